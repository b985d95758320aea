"""Prints global_ptr, spread_ptr and spread_array in gdb: where they point to, and what is there.

    gdb -x PREFIX/share/splitphase/gdb.py PROGRAM         or, in gdb: source PREFIX/share/splitphase/gdb.py

Memory is shown where this process has it mapped: its own, and that of the processes of its node.
"""

import gdb
import gdb.printing

OFFSET_BITS = 40
NO_ADDRESS = 0


def base_of(proc):
    """What is added to a pointer's bits to get its address here; NO_ADDRESS: the memory is elsewhere."""
    place = gdb.parse_and_eval("splitc::detail::place")
    if int(place["mappings"]) == 0 or proc >= int(place["procs"]):
        return NO_ADDRESS
    return int(place["mappings"][proc + 1])


def object_at(bits, element):
    """The object at a global pointer, as a value of gdb; None: it cannot be seen from here."""
    base = base_of((bits >> OFFSET_BITS) - 1)
    if base == NO_ADDRESS or element.strip_typedefs().code == gdb.TYPE_CODE_VOID:
        return None
    address = (base + bits) % 2**64
    found = gdb.Value(address).cast(element.pointer()).dereference()
    try:
        found.fetch_lazy()
    except gdb.error:  # such as a core file without the segment, or a size beyond gdb's limit
        return None
    return found


class Pointer:
    """global_ptr<T>, spread_ptr<T>: rank 2, offset 64 = {the object}. Pointers in that object are not
    followed: in a list or a graph that would have no end."""

    is_inside = False  # of an object that is printed for a pointer to it

    def __init__(self, value):
        self.value = value

    def to_string(self):
        names = [part.name for part in self.value.type.strip_typedefs().fields()]
        bits = int((self.value if "bits_" in names else self.value["at_"])["bits_"])
        if bits == 0:
            return "null"
        text = f"rank {(bits >> OFFSET_BITS) - 1}, offset {bits % 2**OFFSET_BITS}"
        if Pointer.is_inside:
            return text
        found = object_at(bits, self.value.type.strip_typedefs().template_argument(0))
        if found is None:
            return text
        Pointer.is_inside = True
        try:
            return f"{text} = {found.format_string()}"
        finally:
            Pointer.is_inside = False


class Array:
    """spread_array<T>: its layout, and the elements of this process by their index. Of what is no array,
    such as a variable before its construction, whatever its numbers are, and no elements."""

    def __init__(self, value):
        self.value = value
        self.element = value.type.strip_typedefs().template_argument(0)
        self.size, self.block, self.procs = (int(value["map_"][name]) for name in ("n_", "block_", "procs_"))

    def to_string(self):
        if int(self.value["offset_"]) == 0:
            return "moved from"
        return f"{self.size} elements in blocks of {self.block} on {self.procs} processes"

    def children(self):
        place = gdb.parse_and_eval("splitc::detail::place")
        mine = int(place["my_proc"])
        offset = int(self.value["offset_"])
        step = self.block * self.procs
        for first in range(mine * self.block, self.size, step) if step else ():
            for i in range(first, min(first + self.block, self.size)):
                found = object_at((mine + 1) << OFFSET_BITS | offset % 2**OFFSET_BITS, self.element)
                if found is None:
                    return
                yield f"[{i}]", found
                offset += self.element.sizeof


def printers():
    all_of_them = gdb.printing.RegexpCollectionPrettyPrinter("splitphase")
    all_of_them.add_printer("pointer", r"^splitc::(global|spread)_ptr<.*>$", Pointer)
    all_of_them.add_printer("array", r"^splitc::spread_array<.*>$", Array)
    return all_of_them


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
