# SPDX-License-Identifier: MIT
"""Writes TensorFlow Lite files: just enough of FlatBuffers and of the schema for small INT8 networks.

A FlatBuffers file is laid out here from the front: a table comes before what it refers to, and
each reference is filled in when its target has got its place.  Field numbers are the order of the
fields in TensorFlow Lite's schema.fbs.
"""

import struct


class Table:
    """A FlatBuffers table: field number -> scalar ("<i", 5), or a Table, Vector or str."""

    def __init__(self, fields):
        self.fields = {number: value for number, value in fields.items() if value is not None}


class Vector:
    """A vector of scalars (format "i", "f", "q", "B") or, where form is None, of references.

    align is that of the elements, and at least the natural one."""

    def __init__(self, form, items, align=4):
        self.form, self.items, self.align = form, items, align


class FlatBuffer:
    def __init__(self):
        self.data = bytearray()
        self.pending = []  # (place of the reference, target), first in first out

    def pad(self, align, ahead=0):
        """Pads so that what follows in `ahead` bytes is aligned."""
        while (len(self.data) + ahead) % align:
            self.data.append(0)

    def refer(self, target):
        self.pending.append((len(self.data), target))
        self.data += bytes(4)

    def put_table(self, table):
        numbers = sorted(table.fields)
        size_of = lambda v: struct.calcsize(v[0]) if isinstance(v, tuple) else 4
        # Largest fields first: no holes, and each one is aligned as it should be.
        order = sorted(numbers, key=lambda n: (-size_of(table.fields[n]), n))
        offset, place = 4, {}
        for number in order:
            size = size_of(table.fields[number])
            offset += -offset % size
            place[number] = offset
            offset += size
        slots = numbers[-1] + 1 if numbers else 0
        vtable = struct.pack("<HH", 4 + 2 * slots, offset)
        vtable += b"".join(struct.pack("<H", place.get(n, 0)) for n in range(slots))
        self.pad(8, ahead=len(vtable))
        start = len(self.data) + len(vtable)
        self.data += vtable
        self.data += struct.pack("<i", len(vtable))
        for number in order:
            value = table.fields[number]
            self.data += bytes(start + place[number] - len(self.data))
            if isinstance(value, tuple):
                self.data += struct.pack(value[0], value[1])
            else:
                self.refer(value)
        return start

    def put_vector(self, vector):
        self.pad(4)
        self.pad(vector.align, ahead=4)
        start = len(self.data)
        self.data += struct.pack("<I", len(vector.items))
        if vector.form is None:
            for item in vector.items:
                self.refer(item)
        elif vector.form == "B":
            self.data += bytes(vector.items)
        else:
            self.data += struct.pack("<%d%s" % (len(vector.items), vector.form), *vector.items)
        return start

    def put_string(self, text):
        raw = text.encode()
        self.pad(4)
        start = len(self.data)
        self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        return start

    def build(self, root, identifier):
        self.refer(root)
        self.data += identifier
        put = {Table: self.put_table, Vector: self.put_vector, str: self.put_string}
        while self.pending:
            place, target = self.pending.pop(0)
            start = put[type(target)](target)
            struct.pack_into("<I", self.data, place, start - place)
        self.pad(16)
        return bytes(self.data)


INT32, INT8 = 2, 9  # TensorType
SAME, VALID = 0, 1  # Padding
NONE, RELU = 0, 1  # ActivationFunctionType

# operator -> (BuiltinOperator, member of the BuiltinOptions union)
OPERATORS = {
    "ADD": (0, 11),
    "AVERAGE_POOL_2D": (1, 5),
    "CONV_2D": (3, 1),
    "DEPTHWISE_CONV_2D": (4, 2),
    "FULLY_CONNECTED": (9, 8),
    "MAX_POOL_2D": (17, 5),
    "RESHAPE": (22, 17),
    "SOFTMAX": (25, 9),
}


def conv_options(stride, activation, padding=SAME):
    return Table({0: ("<b", padding), 1: ("<i", stride), 2: ("<i", stride), 3: ("<b", activation),
                  4: ("<i", 1), 5: ("<i", 1)})


def depthwise_options(stride, activation, padding=SAME):
    return Table({0: ("<b", padding), 1: ("<i", stride), 2: ("<i", stride), 3: ("<i", 1),
                  4: ("<b", activation), 5: ("<i", 1), 6: ("<i", 1)})


def pool_options(size, stride, padding=VALID):
    return Table({0: ("<b", padding), 1: ("<i", stride), 2: ("<i", stride), 3: ("<i", size),
                  4: ("<i", size), 5: ("<b", NONE)})


def activation_options(activation):
    """Of ADD and FULLY_CONNECTED."""
    return Table({0: ("<b", activation)})


def softmax_options(beta=1.0):
    return Table({0: ("<f", beta)})


def reshape_options(shape):
    return Table({0: Vector("i", shape)})


class Model:
    """Collects tensors and operators; tensors and buffers are known by number."""

    def __init__(self, description):
        self.description = description
        self.buffers = [Table({})]  # buffer 0 is the empty one of computed tensors
        self.tensors, self.operators, self.codes = [], [], []
        self.inputs, self.outputs = [], []

    def tensor(self, name, kind, shape, scale=None, zero=None, axis=0, data=None):
        """scale and zero: lists, one element or one for each index of axis; data: bytes of a constant."""
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(Table({0: Vector("B", data, align=16)}))
        quantisation = None
        if scale is not None:
            quantisation = Table({2: Vector("f", scale), 3: Vector("q", zero, align=8),
                                  6: ("<i", axis)})
        self.tensors.append(Table({0: Vector("i", shape), 1: ("<b", kind), 2: ("<I", buffer),
                                   3: name, 4: quantisation}))
        return len(self.tensors) - 1

    def operator(self, name, inputs, outputs, options):
        code, union = OPERATORS[name]
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append(Table({0: ("<I", self.codes.index(code)), 1: Vector("i", inputs),
                                     2: Vector("i", outputs), 3: ("<B", union), 4: options}))

    def bytes(self):
        codes = [Table({0: ("<b", code), 2: ("<i", 1), 3: ("<i", code)}) for code in self.codes]
        subgraph = Table({0: Vector(None, self.tensors), 1: Vector("i", self.inputs),
                          2: Vector("i", self.outputs), 3: Vector(None, self.operators),
                          4: "main"})
        root = Table({0: ("<I", 3), 1: Vector(None, codes), 2: Vector(None, [subgraph]),
                      3: self.description, 4: Vector(None, self.buffers)})
        return FlatBuffer().build(root, b"TFL3")
