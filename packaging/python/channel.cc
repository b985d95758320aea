// Put channels from one process to another: the receiver makes one over memory of its segment, and
// its handle travels by any means to the sender (am/channel/channel.h).

#include "am/channel/channel.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "binding.h"
#include "splitc/world/world.h"

namespace splitphase_python {
namespace {

// All ends of one kind that this process has open: the end of the job closes them.
template <class End>
std::unordered_set<End*>& open_ends() {
  static auto* const all = new std::unordered_set<End*>;
  return *all;
}

class ReceiveChannel {
 public:
  explicit ReceiveChannel(py::array array) : array_(std::move(array)) {
    check_running(kName);
    check_thread(kName);
    const auto buffer = writable_bytes_of(array_, kName);
    end_leftovers();
    end_.emplace(splitc::world().bundle(), buffer, [count = arrived_] { ++*count; });
    open_ends<ReceiveChannel>().insert(this);
  }
  ~ReceiveChannel() {
    open_ends<ReceiveChannel>().erase(this);
    if (end_) leave(std::make_unique<Left>(std::move(array_), std::move(*end_)));
  }
  ReceiveChannel(const ReceiveChannel&) = delete;
  ReceiveChannel& operator=(const ReceiveChannel&) = delete;

  py::bytes handle() {
    const am::ChannelHandle& handle = end("receive_channel.handle").handle();
    return {reinterpret_cast<const char*>(&handle), sizeof handle};
  }
  bool has_arrived() const noexcept { return *arrived_ != 0; }
  py::array wait() {
    end("receive_channel.wait");
    if (!has_arrived()) {
      const auto where = here();
      const py::gil_scoped_release others_run;
      splitc::wait_until([this] { return has_arrived(); }, where);
    }
    return array_;
  }
  void ready() {
    auto& channel = end("receive_channel.ready");
    *arrived_ = 0;
    channel.ready({"receive_channel.ready", {}});
  }
  void close() noexcept { end_.reset(); }

 private:
  static constexpr const char* kName = "splitphase.receive_channel";
  struct Left : Leftover {
    Left(py::array shown, am::ReceiveChannel channel)
        : array(std::move(shown)), end(std::move(channel)) {}
    py::array array;
    am::ReceiveChannel end;
  };

  am::ReceiveChannel& end(const char* call) {
    check_running(call);
    if (!end_) refuse(call, "the channel was closed");
    return *end_;
  }

  py::array array_;
  // Puts since ready().
  const std::shared_ptr<std::uint64_t> arrived_ = std::make_shared<std::uint64_t>(0);
  std::optional<am::ReceiveChannel> end_;
};

class SendChannel {
 public:
  SendChannel(const py::bytes& bytes, py::array source) : source_(std::move(source)) {
    check_running(kName);
    check_thread(kName);
    const auto text = static_cast<std::string_view>(bytes);
    am::ChannelHandle handle;
    if (text.size() != sizeof handle) {
      refuse(kName, std::to_string(text.size()) +
                        " bytes are no handle of a channel; pass what "
                        "receive_channel.handle gives, in its process");
    }
    std::memcpy(&handle, text.data(), sizeof handle);
    end_.emplace(splitc::world().bundle(), handle);
    end_->associate(bytes_of(source_, kName));
    open_ends<SendChannel>().insert(this);
  }
  ~SendChannel() {
    open_ends<SendChannel>().erase(this);
    if (end_) leave(std::make_unique<Left>(std::move(source_), std::move(*end_)));
  }
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;

  void put() { end("send_channel.put").put({"send_channel.put", {}}); }
  bool is_reusable() const { return !end_ || end_->reusable(); }
  void wait_reusable() {
    const auto& channel = end("send_channel.wait_reusable");
    if (channel.reusable()) return;
    const auto where = here();
    const py::gil_scoped_release others_run;
    splitc::wait_until([&] { return channel.reusable(); }, where);
  }
  void close() { end_.reset(); }  // waits unless is_reusable()

 private:
  static constexpr const char* kName = "splitphase.send_channel";
  // One whose last put is on its way keeps its source.
  struct Left : Leftover {
    Left(py::array sent, am::SendChannel channel)
        : source(std::move(sent)), end(std::move(channel)) {}
    bool may_end() const override { return end.reusable(); }
    py::array source;
    am::SendChannel end;
  };

  am::SendChannel& end(const char* call) {
    check_running(call);
    if (!end_) refuse(call, "the channel was closed");
    return *end_;
  }

  py::array source_;
  std::optional<am::SendChannel> end_;
};

}  // namespace

void close_senders() {
  {
    const py::gil_scoped_release others_run;
    splitc::wait_until([] {
      const py::gil_scoped_acquire python;
      return std::ranges::all_of(open_ends<SendChannel>(), &SendChannel::is_reusable);
    });
  }
  for (SendChannel* const channel : open_ends<SendChannel>()) channel->close();
}

void close_receivers() {
  for (ReceiveChannel* const channel : open_ends<ReceiveChannel>()) channel->close();
}

void define_channel(py::module_& module) {
  py::class_<ReceiveChannel>(module, "receive_channel",
                             "The end of a put channel that receives: `array` shows memory of the "
                             "segment (buffer(), spread_array.mine).")
      .def(py::init<py::array>(), py::arg("array").noconvert())
      .def_property_readonly("handle", &ReceiveChannel::handle,
                             "Bytes that the sender makes its end of.")
      .def_property_readonly("arrived", &ReceiveChannel::has_arrived,
                             "Whether a put has arrived since ready(). Does not poll.")
      .def("wait", &ReceiveChannel::wait, "Waits for a put, and returns the array.")
      .def("ready", &ReceiveChannel::ready,
           "The array is no longer in use: the next put may come. Tells nobody.");
  py::class_<SendChannel>(module, "send_channel",
                          "The end that sends `source`, an array of as many bytes, which it keeps.")
      .def(py::init<py::bytes, py::array>(), py::arg("handle"), py::arg("source").noconvert())
      .def("put", &SendChannel::put, "Writes the source there. Never waits.")
      .def_property_readonly("reusable", &SendChannel::is_reusable,
                             "Whether the source may be changed. Does not poll.")
      .def("wait_reusable", &SendChannel::wait_reusable, "Waits until it may.");
}

}  // namespace splitphase_python
