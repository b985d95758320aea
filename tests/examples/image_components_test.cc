// image_components on images whose answer is known, and on noise, where the program compares with a
// flood fill.

#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "examples/image_components/png_file.h"
#include "tests/examples/example.h"

namespace examples::test::images {
namespace {

using image_components::Image;

constexpr std::string_view kEqual = "equal to the flood fill\n";

// A file with the image that is written in rows: '#' is white.
std::string drawn(const Words& rows) {
  Image image{rows[0].size(), rows.size()};
  for (const std::string& row : rows) {
    for (const char c : row) image.pixels.push_back(c == '#' ? 255 : 0);
  }
  std::string path = new_path();
  write_png(path, image);
  return path;
}

// A file that the program has made: each once.
const std::string& made(const std::string& kind, const Words& options = {}) {
  static std::map<std::string, std::string> paths;
  std::string& path = paths[kind];
  if (path.empty()) {
    path = new_path();
    Words arguments{"--make", kind, "64", path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(1, "image_components", arguments).exit_code, 0);
  }
  return path;
}

// Expects `answer` among what it prints of the image, and that a flood fill finds the same.
void expect_answer(const Shape& shape, const Words& arguments, std::string_view answer) {
  const auto result = run(shape, "image_components", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(answer), std::string::npos) << result.out;
  EXPECT_TRUE(result.out.ends_with(kEqual)) << result.out;
}

class ImageComponents : public ::testing::TestWithParam<Shape> {};

TEST_P(ImageComponents, are_counted_in_drawings) {
  const std::map<std::string, std::string> answers{
      {"horizontal_bars", "\n8 components, the largest of 256 pixels\n"},
      {"vertical_bars", "\n8 components, the largest of 256 pixels\n"},
      {"forward_bars", "\n16 components, the largest of 246 pixels\n"},
      {"back_bars", "\n16 components, the largest of 246 pixels\n"},
      {"cross", "\n1 components, the largest of 960 pixels\n"},
      {"disc", "\n1 components, "},
      {"circles", "\n4 components, "},
      {"squares", "\n4 components, the largest of 256 pixels\n         4 of 256 to 511 pixels\n"},
  };
  for (const auto& [kind, answer] : answers) expect_answer(GetParam(), {made(kind)}, answer);
  expect_answer(GetParam(), {made("spiral"), "--neighbours", "8"}, "\n2 components, ");
}

// What meets in another process's rows only; and diagonally, across a border.
TEST_P(ImageComponents, are_merged_across_borders) {
  expect_answer(GetParam(),
                {drawn({"#.#.#.#", "#.#.#.#", "#.#.#.#", "#.#.###", "#.#....", "#.#....", "#.#....",
                        "###...#"})},
                "\n3 components, the largest of 17 pixels\n");
  const std::string stairs = drawn({"#.......", ".#......", "..#....#", "...#..#.", "....##.."});
  expect_answer(GetParam(), {stairs}, "\n7 components, the largest of 2 pixels\n");
  expect_answer(GetParam(), {stairs, "--neighbours", "8"},
                "\n1 components, the largest of 8 pixels\n");
}

TEST_P(ImageComponents, of_noise_are_those_of_a_flood_fill) {
  for (const char* neighbours : {"4", "8"}) {
    expect_answer(GetParam(), {made("noise"), "--neighbours", neighbours}, "64 x 64 pixels");
  }
}

INSTANTIATE_TEST_SUITE_P(on_one_node, ImageComponents,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{2}, Shape{4}, Shape{8}));

class ImageComponentsAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(ImageComponentsAcrossNodes, of_noise_are_those_of_a_flood_fill) {
  expect_answer(GetParam(), {made("noise")}, "64 x 64 pixels");
}

INSTANTIATE_TEST_SUITE_P(nodes, ImageComponentsAcrossNodes,
                         ::testing::Values(Shape{2, 2}, Shape{4, 2}, Shape{3, 3, kFewLost},
                                           Shape{8, 3}, Shape{4, 2, kDatagrams}));

TEST(ImageComponents, of_images_with_fewer_rows_than_processes) {
  for (const int procs : {1, 3, 5}) {
    expect_answer(procs == 5 ? Shape{5, 2} : Shape{procs}, {drawn({"#"})},
                  "1 x 1 pixels, 1 of them white, with 4 neighbours each\n"
                  "1 components, the largest of 1 pixels\n         1 of 1 to 1 pixels\n");
    expect_answer({procs}, {drawn({"##.#.###"})},
                  "\n3 components, the largest of 3 pixels\n"
                  "         1 of 1 to 1 pixels\n         2 of 2 to 3 pixels\n");
    expect_answer({procs}, {drawn({"#", "#", ".", "#"})}, "\n2 components, the largest of 2");
  }
}

TEST(ImageComponents, of_black_are_none_and_of_white_one) {
  const std::string black = drawn({"....", "....", "...."});
  expect_answer({3}, {black}, "0 of them white, with 4 neighbours each\n0 components, the largest");
  expect_answer({3}, {black, "--threshold", "0"}, "\n1 components, the largest of 12 pixels\n");
}

TEST(ImageComponents, are_white_from_the_threshold_on) {
  const std::string path = new_path();
  write_png(path, Image{5, 1, {10, 99, 100, 101, 0}});
  expect_answer({2}, {path, "--threshold", "100"}, "5 x 1 pixels, 2 of them white");
}

// The colours in a PNG file.
std::set<std::vector<unsigned char>> colours_of(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&png, path.c_str()), 0) << png.message;
  png.format = PNG_FORMAT_RGB;
  std::vector<unsigned char> bytes(PNG_IMAGE_SIZE(png));
  EXPECT_NE(png_image_finish_read(&png, nullptr, bytes.data(), 0, nullptr), 0) << png.message;
  std::set<std::vector<unsigned char>> colours;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    colours.emplace(bytes.begin() + i, bytes.begin() + i + 3);
  }
  return colours;
}

TEST(ImageComponents, get_a_colour_each) {
  const std::string path = new_path();
  expect_answer({3}, {made("forward_bars"), "-o", path}, "\n16 components, ");
  const auto colours = colours_of(path);
  EXPECT_EQ(colours.size(), 17u);
  EXPECT_TRUE(colours.contains({0, 0, 0}));
  // What is not black stays white enough to be found again.
  expect_answer({2}, {path, "--threshold", "1"}, "\n16 components, ");
}

TEST(ImageComponents, of_noise_follow_its_seed_and_share) {
  const std::string first = new_path(), second = new_path(), all = new_path();
  run(1, "image_components", {"--make", "noise", "32", first, "--seed", "7"});
  run(3, "image_components", {"--make", "noise", "32", second, "--seed", "7"});
  EXPECT_EQ(contents_of(first), contents_of(second));
  EXPECT_NE(contents_of(first), "");
  run(1, "image_components", {"--make", "noise", "32", all, "--percent", "100"});
  expect_answer({2}, {all}, "\n1 components, the largest of 1024 pixels\n");
}

TEST(ImageComponents, refuses_files_that_are_no_images) {
  expect_refused("image_components", {"/no/such/file"},
                 "/no/such/file cannot be read as a PNG image: No such file or directory");
  expect_refused("image_components", {"/"}, "/ cannot be read as a PNG image: ");
  expect_refused("image_components", {file_with("")}, "cannot be read as a PNG image: ");
  expect_refused("image_components", {file_with("GIF89a, not what it should be")},
                 "cannot be read as a PNG image: Not a PNG");
  const std::string whole = contents_of(made("noise"));
  expect_refused("image_components", {file_with(whole.substr(0, whole.size() / 2))},
                 "cannot be read as a PNG image: ");
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  expect_refused("image_components", {file_with(damaged)}, "cannot be read as a PNG image: ");
}

// The beginning of one of 20,000 x 20,000 pixels.
TEST(ImageComponents, refuses_images_that_are_too_large) {
  using std::string_view_literals::operator""sv;
  expect_refused("image_components",
                 {file_with("\211PNG\r\n\032\n\000\000\000\015IHDR\000\000N \000\000N \010"
                            "\000\000\000\000\306\033\031\345\000\000\000\012IDAT"sv)},
                 "it has 20000 x 20000 pixels, and at most 268435456 are possible");
}

TEST(ImageComponents, refuses_what_makes_no_sense) {
  const std::string image = drawn({"#"});
  expect_refused("image_components", {}, "which image?");
  expect_refused("image_components", {image, image}, image);
  expect_refused("image_components", {image, "--neighbours", "6"}, "--neighbours");
  expect_refused("image_components", {image, "--threshold", "257"}, "--threshold");
  expect_refused("image_components", {image, "--make", "disc", "9", new_path()}, "--make");
  expect_refused("image_components", {"--make", "disc", "9"}, "--make");
  expect_refused("image_components", {"--make", "triangle", "9", new_path()},
                 "--make triangle is no kind of image; there are horizontal_bars");
  for (const char* size : {"0", "-1", "many", "9x", "16385"}) {
    expect_refused("image_components", {"--make", "disc", size, new_path()},
                   "the size is the pixels of a side, from 1 to 16384");
  }
  expect_refused("image_components", {"--make", "disc", "9", "/no/such/folder/disc.png"},
                 "/no/such/folder/disc.png cannot be written as a PNG image: ");
}

TEST(ImageComponents, says_when_the_output_cannot_be_written) {
  const auto result = run(2, "image_components", {made("disc"), "-o", "/no/such/folder/c.png"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("/no/such/folder/c.png cannot be written as a PNG image: "),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace examples::test::images
