#include "binding.h"

// Python finds this function by the module's name.
PYBIND11_MODULE(_splitphase, module) {
  using namespace splitphase_python;
  const py::handle error = py::register_exception<am::Error>(module, "Error", PyExc_RuntimeError);
  py::register_exception<am::PeerDied>(module, "PeerDied", error);
  module.attr("checked") = am::kChecked;
  define_job(module);
  define_memory(module);
  define_array(module);
  define_collective(module);
  define_calls(module);
  define_channel(module);
}
