// The connected components of a black-and-white image: which white pixels hang together.
//
//   ./run image_components --make noise 512 noise.png        draws an image
//   ./run -n 4 image_components noise.png -o colours.png     finds its components
//   ./run -n 4 image_components --neighbours 8 --threshold 90 photo.png
//
// Reads a PNG file, whose pixels are white from a threshold on, and deals it out by rows. Prints
// how many components there are, the largest, and how many of which area; with -o it writes an
// image in which each has a colour of its own. Process 0 compares with a flood fill. Exit code 1 if
// the two differ.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "examples/command_line.h"
#include "examples/image_components/answer.h"
#include "examples/image_components/pictures.h"
#include "examples/image_components/png_file.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace image_components {
namespace {

using namespace splitc;

constexpr std::size_t kMaxSide = 16384;

struct Options {
  std::string file;
  std::string output;             // "": none
  std::vector<std::string> make;  // KIND SIZE FILE, or nothing
  Drawing drawing;
  Question question;
};

// Red, green and blue: as bright as black is not. Different ones for the first 192^3 components.
void add_colour(Label label, std::vector<std::uint8_t>& colours) {
  constexpr std::uint64_t kShades = 192;
  constexpr std::uint64_t kFar = 4'374'373;  // without a factor in common with kShades
  std::uint64_t colour = label * kFar % (kShades * kShades * kShades);
  for (int i = 0; i < 3; ++i, colour /= kShades) {
    colours.push_back(label == 0 ? 0 : static_cast<std::uint8_t>(256 - kShades + colour % kShades));
  }
}

void write_colours(const std::string& path, const Image& image, const Answer& answer) {
  std::vector<std::uint8_t> colours;
  colours.reserve(3 * answer.labels.size());
  for (const Label label : answer.labels) add_colour(label, colours);
  write_png(path, image.width, image.height, colours);
}

void print(const Question& question, const Answer& answer, double seconds) {
  const std::size_t white = answer.labels.size() - std::ranges::count(answer.labels, Label{0});
  std::printf("%zu x %zu pixels, %zu of them white, with %u neighbours each\n",
              question.image.width, question.image.height, white, question.neighbours);
  std::printf("%lu components, the largest of %lu pixels\n", answer.components, answer.largest);
  for (std::size_t i = 0; i < answer.with_area.size(); ++i) {
    if (answer.with_area[i] == 0) continue;
    std::printf("%10lu of %lu to %lu pixels\n", answer.with_area[i], std::uint64_t{1} << i,
                (std::uint64_t{2} << i) - 1);
  }
  std::printf("%u processes, %.6f seconds\n", procs(), seconds);
}

int find(Options& options) {
  Question& question = options.question;
  on_one([&] { question.image = read_png(options.file); });
  const std::size_t pixels = question.image.pixels.size();
  examples::Progress progress(pixels / procs() + pixels);  // of process 0, and of it alone
  Answer answer;
  const double seconds = solve(question, answer, progress);
  bool equal = true;
  on_one([&] {
    progress.print([&] { print(question, answer, seconds); });
    if (!options.output.empty()) write_colours(options.output, question.image, answer);
    equal = answer == solve_serially(question, progress);
    progress.print([&] {
      std::printf(equal ? "equal to the flood fill\n" : "NOT equal to the flood fill\n");
    });
  });
  return equal ? 0 : 1;
}

// Of what --make says. Throws a sentence if it makes no sense.
void make(const Options& options) {
  const auto kind = std::ranges::find(kinds(), options.make[0], &Kind::name);
  if (kind == kinds().end()) {
    std::string names;
    for (const Kind& each : kinds()) names += " " + std::string(each.name);
    throw std::runtime_error("image_components: --make " + options.make[0] +
                             " is no kind of image; there are" + names);
  }
  Drawing drawing = options.drawing;
  const std::string& size = options.make[1];
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), drawing.size);
  if (error != std::errc() || end != size.data() + size.size() || drawing.size < 1 ||
      drawing.size > kMaxSide) {
    throw std::runtime_error("image_components: --make " + options.make[0] + " " + size +
                             ": the size is the pixels of a side, from 1 to " +
                             std::to_string(kMaxSide));
  }
  on_one([&] { write_png(options.make[2], draw(*kind, drawing)); });
}

int program(Args args) {
  Options options;
  Question& question = options.question;
  std::string kinds_sentence = "draw an image instead:";
  for (const Kind& kind : kinds()) kinds_sentence += " " + std::string(kind.name);
  examples::CommandLine line("The connected components of a black-and-white image.",
                             "image_components");
  const auto file = line.option("FILE", options.file, "a PNG image").type_name("PATH");
  line.option("-o", options.output, "write it here, in colours").type_name("PATH");
  line.option("--threshold", question.threshold, "brightness from which a pixel is white")
      .range(0u, 256u);
  line.option("--neighbours", question.neighbours, "4, or 8 with the diagonal ones")
      .one_of({4u, 8u});
  line.option("--make", options.make, kinds_sentence)
      .type_name("KIND SIZE PATH")
      .values(3)
      .without_default()
      .excludes(file);
  line.option("--percent", options.drawing.percent, "of noise that is white").range(0u, 100u);
  line.option("--seed", options.drawing.seed, "another seed, other noise");
  if (!line.parse(args)) return 0;
  if (!options.make.empty()) {
    make(options);
    return 0;
  }
  if (options.file.empty()) {
    throw std::runtime_error(
        "image_components: which image? Name a PNG file, or draw one by --make noise 512 "
        "noise.png");
  }
  return find(options);
}

}  // namespace
}  // namespace image_components

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return image_components::program(args); });
}
