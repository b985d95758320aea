// spread_array: elements over all processes, as bytes. Which process has which element is
// splitc::distribution's arithmetic; what it moves is ranges of bytes (operation.h).

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "binding.h"
#include "operation.h"
#include "splitc/access/access.h"
#include "splitc/access/bulk.h"
#include "splitc/array/layout.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/sync.h"

namespace splitphase_python {
namespace {

using Bytes = splitc::global_ptr<std::byte>;
constexpr std::size_t kMostOfElement = 32;  // bytes: a complex number of long doubles

// Reads or writes an element. Those of 1 to 8 bytes move whole. `where` is known of those on other
// nodes only: the others do not wait, and finding out would take as long as all the rest.
template <class Word>
void read_word(std::byte* to, Bytes from, am::SourceLocation where) {
  const Word word = splitc::read(splitc::global_ptr<Word>(from), where);
  std::memcpy(to, &word, sizeof word);
}
void read_element(std::byte* to, Bytes from, std::size_t bytes, am::SourceLocation where = {}) {
  switch (bytes) {
    case 1: return read_word<std::uint8_t>(to, from, where);
    case 2: return read_word<std::uint16_t>(to, from, where);
    case 4: return read_word<std::uint32_t>(to, from, where);
    case 8: return read_word<std::uint64_t>(to, from, where);
    default: return splitc::bulk_read(to, from, bytes, where);
  }
}
template <class Word>
void write_word(Bytes to, const std::byte* from, am::SourceLocation where) {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  splitc::write(splitc::global_ptr<Word>(to), word, where);
}
void write_element(Bytes to, const std::byte* from, std::size_t bytes,
                   am::SourceLocation where = {}) {
  switch (bytes) {
    case 1: return write_word<std::uint8_t>(to, from, where);
    case 2: return write_word<std::uint16_t>(to, from, where);
    case 4: return write_word<std::uint32_t>(to, from, where);
    case 8: return write_word<std::uint64_t>(to, from, where);
    default: return splitc::bulk_write(to, from, bytes, where);
  }
}

std::size_t block_of(const py::object& layout, std::size_t n) {
  if (py::isinstance<py::int_>(layout)) {
    const auto block = layout.cast<std::int64_t>();
    if (block > 0) return static_cast<std::size_t>(block);
  } else if (py::isinstance<py::str>(layout)) {
    const auto name = layout.cast<std::string>();
    if (name == "cyclic") return splitc::cyclic.block(n, splitc::procs());
    if (name == "blocked") return splitc::blocked.block(n, splitc::procs());
  }
  refuse("splitphase.spread_array", "there is no layout " + py::repr(layout).cast<std::string>() +
                                        "; there are 'blocked', 'cyclic', and a number, the "
                                        "elements of a block");
}

class SpreadArray {
 public:
  SpreadArray(std::size_t n, const py::object& type, const py::object& layout)
      : type_(py::dtype::from_args(type)), job_(job_number()) {
    check_running(kName);
    check_type(type_, kName);
    const auto element = static_cast<std::size_t>(type_.itemsize());
    map_ = {n, block_of(layout, n), splitc::procs()};
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(map_.capacity() * element, splitc::procs(), &bytes) ||
        map_.capacity() > SIZE_MAX / element) {
      refuse(kName, std::to_string(n) + " elements are more than any memory holds");
    }
    const auto where = here();
    const Wish mine{n, map_.block(), element, static_cast<std::uint64_t>(type_.kind())};
    const py::gil_scoped_release others_run;
    for (const Wish& other : splitc::all_gather(mine, where)) {
      if (!(other == mine)) {
        refuse(kName,
               "the processes asked for arrays of another size, type or layout; all make "
               "the same one");
      }
    }
    memory_ = splitc::all_spread_malloc<std::byte>(bytes, where);
  }

  std::size_t size() const noexcept { return map_.size(); }
  py::dtype type() const { return type_; }
  std::uint32_t owner(py::ssize_t i) const { return map_.owner(index(i)); }

  py::array mine() {
    check_use();
    const std::size_t count = map_.size_on(splitc::my_proc());
    return show(splitc::tolocal(Bytes(splitc::my_proc(), memory_.offset())), type_,
                {static_cast<py::ssize_t>(count)}, std::make_unique<View>(views_));
  }
  // The indices of mine().
  py::array my_indices() const {
    const std::uint32_t me = splitc::my_proc();
    py::array_t<std::int64_t> all(static_cast<py::ssize_t>(map_.size_on(me)));
    for (std::size_t l = 0; l < map_.size_on(me); ++l) {
      all.mutable_data()[l] = static_cast<std::int64_t>(map_.global(me, l));
    }
    return std::move(all);
  }

  py::object read(py::ssize_t i) {
    check_use();
    const Bytes from = at(index(i));
    alignas(std::max_align_t) std::array<std::byte, kMostOfElement> value;
    if (splitc::is_near(from.proc())) {
      read_element(value.data(), from, element());
    } else {
      const auto where = here();
      const py::gil_scoped_release others_run;
      read_element(value.data(), from, element(), where);
    }
    const py::array number(type_, std::vector<py::ssize_t>{}, value.data());
    return number[py::tuple()];
  }
  void write(py::ssize_t i, const py::object& x) {
    check_use();
    const Bytes to = at(index(i));
    py::array number(type_, std::vector<py::ssize_t>{});
    number[py::tuple()] = x;
    const auto* const value = static_cast<const std::byte*>(number.data());
    if (splitc::is_near(to.proc())) return write_element(to, value, element());
    const auto where = here();
    const py::gil_scoped_release others_run;
    write_element(to, value, element(), where);
  }

  std::shared_ptr<Operation> get(const py::slice& range, const py::object& out) {
    check_use();
    const Slice slice = indices(range);
    py::array to;
    if (out.is_none()) {
      to = py::array(type_, std::vector<py::ssize_t>{static_cast<py::ssize_t>(slice.size())});
    } else {
      to = out.cast<py::array>();
      const auto bytes = writable_bytes_of(to, "spread_array.get");
      if (!to.dtype().equal(type_) || bytes.size() != slice.size() * element()) {
        refuse("spread_array.get", "the array for the result has " + std::to_string(to.size()) +
                                       " elements of type " + name_of(to.dtype()) + ", and " +
                                       std::to_string(slice.size()) + " of type " + name_of(type_) +
                                       " are to come");
      }
    }
    auto operation = std::make_shared<Operation>(map_, element(), slice, std::move(to));
    operation->get(memory_.offset());
    return operation;
  }
  std::shared_ptr<Operation> put(const py::slice& range, const py::object& values) {
    auto operation = operation_from(range, values);
    operation->put(memory_.offset());
    return operation;
  }
  void store(const py::slice& range, const py::object& values) {
    operation_from(range, values)->store(memory_.offset());
  }

  void free() {
    check_use();
    if (*views_ != 0) {
      refuse("spread_array.free", std::to_string(*views_) +
                                      " NumPy arrays show this memory; delete what .mine gave, "
                                      "and views of it, before");
    }
    complete_operations();
    const auto where = here();
    const py::gil_scoped_release others_run;
    splitc::all_spread_free(std::exchange(memory_, {}), where);
  }

 private:
  static constexpr const char* kName = "splitphase.spread_array";
  // What all processes ask for.
  struct Wish {
    std::uint64_t size;
    std::uint64_t block;
    std::uint64_t element;
    std::uint64_t kind;
    bool operator==(const Wish&) const = default;
  };
  // One that mine() has given.
  class View : public Shown {
   public:
    explicit View(std::shared_ptr<std::size_t> count) : count_(std::move(count)) { ++*count_; }
    ~View() override { --*count_; }

   private:
    const std::shared_ptr<std::size_t> count_;
  };

  void check_use() const {
    check_running(kName);
    if (memory_ && job_ == job_number()) return;
    refuse(kName, memory_ ? "this array was made in a job that has ended"
                          : "this array was freed; use it before free(), or in its `with`");
  }
  std::size_t element() const { return static_cast<std::size_t>(type_.itemsize()); }
  Bytes at(std::size_t i) const {
    return {map_.owner(i), memory_.offset() + map_.local(i) * element()};
  }
  std::size_t index(py::ssize_t i) const {
    const auto n = static_cast<py::ssize_t>(size());
    if (i < -n || i >= n) {
      throw py::index_error("rank " + std::to_string(splitc::my_proc()) +
                            ": spread_array: there is no element " + std::to_string(i) +
                            ": the array has " + std::to_string(n));
    }
    return static_cast<std::size_t>(i < 0 ? i + n : i);
  }
  Slice indices(const py::slice& range) const {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t step = 0;
    std::size_t count = 0;
    if (!range.compute(size(), &first, &last, &step, &count)) throw py::error_already_set();
    if (step != 1) {
      refuse("spread_array",
             "a slice takes each element, with no step; get those between, and "
             "take steps in the NumPy array");
    }
    return {first, first + count};
  }
  std::shared_ptr<Operation> operation_from(const py::slice& range, const py::object& values) {
    check_use();
    const Slice slice = indices(range);
    return std::make_shared<Operation>(map_, element(), slice, elements_of(values, slice.size()));
  }
  // So many elements of this type, contiguous: the array that was given, if it is that.
  py::array elements_of(const py::object& values, std::size_t count) const {
    if (py::isinstance<py::array>(values)) {
      auto array = py::reinterpret_borrow<py::array>(values);
      if (array.ndim() == 1 && static_cast<std::size_t>(array.size()) == count &&
          (array.flags() & py::array::c_style) != 0 && array.dtype().is(type_)) {
        return array;
      }
    }
    // One value serves all; other shapes are NumPy's to refuse.
    const auto numpy = py::module_::import("numpy");
    return contiguous(numpy.attr("broadcast_to")(contiguous(values, type_), py::make_tuple(count)),
                      type_);
  }

  const py::dtype type_;
  const std::uint64_t job_;
  splitc::distribution map_;
  splitc::spread_ptr<std::byte> memory_;  // null: freed
  std::shared_ptr<std::size_t> views_ = std::make_shared<std::size_t>(0);
};

}  // namespace

void define_array(py::module_& module) {
  define_operation(module);
  py::class_<SpreadArray>(module, "spread_array",
                          "n elements over all processes, zero at first. Collective. `layout`: "
                          "'blocked' (one part each), 'cyclic', or the elements of a block.")
      .def(py::init<std::size_t, py::object, py::object>(), py::arg("n"), py::arg("dtype"),
           py::arg("layout") = "blocked")
      .def("__len__", &SpreadArray::size)
      .def_property_readonly("dtype", &SpreadArray::type)
      .def_property_readonly("mine", &SpreadArray::mine,
                             "The elements of this process, as a NumPy array without a copy.")
      .def_property_readonly("my_indices", &SpreadArray::my_indices,
                             "The index of each element of .mine.")
      .def("owner", &SpreadArray::owner, py::arg("index"), "The process that has this element.")
      .def("__getitem__", &SpreadArray::read, py::arg("index"))
      .def("__setitem__", &SpreadArray::write, py::arg("index"), py::arg("value"))
      .def("__getitem__",
           [](SpreadArray& self, const py::slice& range) {
             return self.get(range, py::none())->wait();
           })
      .def("__setitem__", [](SpreadArray& self, const py::slice& range,
                             const py::object& values) { self.put(range, values)->wait(); })
      .def("get", &SpreadArray::get, py::arg("range"), py::arg("out") = py::none(),
           "Starts reading slice(first, last), into `out` or a new array.")
      .def("put", &SpreadArray::put, py::arg("range"), py::arg("values"),
           "Starts writing slice(first, last). The values stay unchanged until wait().")
      .def("store", &SpreadArray::store, py::arg("range"), py::arg("values"),
           "Writes slice(first, last) one way: counted where it lands, see store_sync().")
      .def("free", &SpreadArray::free, "Collective: gives the memory back.")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](SpreadArray& self, const py::object& type, const py::args&) {
        if (type.is_none()) self.free();
      });
}

}  // namespace splitphase_python
