#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains the demo's digit classifier and writes it as an INT8 TensorFlow Lite file.

Needs Debian's python3-sklearn, for the digits data set in it (1797 images of 8x8 pixels with 17
grey levels) and NumPy; the network, its training and its quantisation are here.

    tools/train_digits.py [DIRECTORY]      (default: tools/demo)

writes digits.tflite, digits.txt (the held-out images: label and pixels) and digits.reference (how
the float and the INT8 network did on them, and what the INT8 network said to each image).  The
held-out images are the last 360: mostly of writers that are not among the first 1437.
"""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the sums' order, and so the result, stays

import numpy as np
from sklearn.datasets import load_digits

import tflite_writer as tflite

SCALE = 8  # an image is enlarged from 8x8 to 64x64
HELD_OUT = 360
EPOCHS = 24
BATCH = 32
SEED = 20


# ---- images -------------------------------------------------------------------------------------

def enlarge(images):
    """Bilinear, pixel centres aligned, edges repeated; 0..16 become 0..255 (integers, as in the demo)."""
    side = images.shape[1] * SCALE
    centre = 2 * np.arange(side) + 1 - SCALE  # in units of 1 / (2 SCALE) pixel
    low = centre // (2 * SCALE)
    high_weight = centre - low * 2 * SCALE
    weights = np.zeros((side, images.shape[1]), np.int64)
    for out in range(side):
        for index, weight in ((low[out], 2 * SCALE - high_weight[out]), (low[out] + 1, high_weight[out])):
            weights[out, min(max(index, 0), images.shape[1] - 1)] += weight
    full = 16 * (2 * SCALE) ** 2
    wide = np.einsum("yi,nij,xj->nyx", weights, images.astype(np.int64), weights)
    return ((wide * 255 + full // 2) // full).astype(np.uint8)


def shifted(images, rng):
    """Each image moved by up to one original pixel in each direction."""
    out = np.zeros_like(images)
    side = images.shape[1]
    for n, (dy, dx) in enumerate(rng.integers(-SCALE, SCALE + 1, (len(images), 2))):
        y0, y1, x0, x1 = max(dy, 0), side + min(dy, 0), max(dx, 0), side + min(dx, 0)
        out[n, y0:y1, x0:x1] = images[n, y0 - dy:y1 - dy, x0 - dx:x1 - dx]
    return out


# ---- layers: arrays are NHWC, weights are [R, S, C, K] --------------------------------------------

def same_pads(size, kernel, stride):
    out = -(-size // stride)
    total = max((out - 1) * stride + kernel - size, 0)
    return out, total // 2, total - total // 2


def patches(x, kernel, stride, value=0):
    """[N, Ho, Wo, R, S, C] windows of x under SAME padding with value."""
    (_, top, bottom), (_, left, right) = (same_pads(n, kernel, stride) for n in x.shape[1:3])
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (1, 2))
    return windows[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


class Layer:
    """One step of the network: input names, and whether ReLU follows."""

    def __init__(self, name, inputs, relu=False):
        self.name, self.inputs, self.relu = name, inputs, relu
        self.params, self.grads = [], []

    def clamp(self, y):
        self.positive = y > 0
        return np.maximum(y, 0) if self.relu else y

    def through_clamp(self, dy):
        return dy * self.positive if self.relu else dy


class Conv(Layer):
    operator = "CONV_2D"

    def __init__(self, name, source, c, k, kernel, stride, rng, relu=True):
        super().__init__(name, [source], relu)
        self.kernel, self.stride = kernel, stride
        w = rng.normal(0, np.sqrt(2 / (kernel * kernel * c)), (kernel, kernel, c, k))
        self.params = [w.astype(np.float32), np.zeros(k, np.float32)]

    def forward(self, x):
        w, b = self.params
        self.shape = x.shape
        p = patches(x, self.kernel, self.stride)
        self.columns = p.reshape(-1, w[..., 0].size)
        y = self.columns @ w.reshape(-1, w.shape[3]) + b
        return self.clamp(y.reshape(p.shape[:3] + (-1,)))

    def backward(self, dy):
        w, _ = self.params
        dy = self.through_clamp(dy)
        flat = dy.reshape(-1, w.shape[3])
        self.grads = [(self.columns.T @ flat).reshape(w.shape), flat.sum(0)]
        d = (flat @ w.reshape(-1, w.shape[3]).T).reshape(dy.shape[:3] + w.shape[:3])
        return [fold(d, self.shape, self.kernel, self.stride)]


def fold(d, shape, kernel, stride):
    """Adds gradients of windows up where the windows overlap: the reverse of patches()."""
    n, h, w, c = shape
    (ho, top, bottom), (wo, left, right) = (same_pads(size, kernel, stride) for size in (h, w))
    out = np.zeros((n, h + top + bottom, w + left + right, c), np.float32)
    for r in range(kernel):
        for s in range(kernel):
            out[:, r:r + ho * stride:stride, s:s + wo * stride:stride][:, :ho, :wo] += d[:, :, :, r, s]
    return out[:, top:top + h, left:left + w]


class Depthwise(Layer):
    operator = "DEPTHWISE_CONV_2D"

    def __init__(self, name, source, c, kernel, rng):
        super().__init__(name, [source], True)
        self.kernel, self.stride = kernel, 1
        w = rng.normal(0, np.sqrt(2 / (kernel * kernel)), (kernel, kernel, c, 1))
        self.params = [w.astype(np.float32), np.zeros(c, np.float32)]

    def forward(self, x):
        w, b = self.params
        self.windows = patches(x, self.kernel, 1)
        y = b.astype(np.float32)
        for r in range(self.kernel):
            for s in range(self.kernel):
                y = y + self.windows[:, :, :, r, s] * w[r, s, :, 0]
        return self.clamp(y)

    def backward(self, dy):
        w, _ = self.params
        dy = self.through_clamp(dy)
        dw = np.empty_like(w)
        d = np.empty(dy.shape[:3] + w.shape[:3], np.float32)
        for r in range(self.kernel):
            for s in range(self.kernel):
                dw[r, s, :, 0] = (dy * self.windows[:, :, :, r, s]).sum((0, 1, 2))
                d[:, :, :, r, s] = dy * w[r, s, :, 0]
        self.grads = [dw, dy.sum((0, 1, 2))]
        return [fold(d, dy.shape, self.kernel, 1)]


class Add(Layer):
    operator = "ADD"

    def forward(self, a, b):
        return self.clamp(a + b)

    def backward(self, dy):
        dy = self.through_clamp(dy)
        return [dy, dy]


class MaxPool(Layer):
    operator = "MAX_POOL_2D"
    size = 2

    def split(self, x):
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c)

    def forward(self, x):
        y = self.split(x).max((2, 4))
        self.mask = self.split(x) == y[:, :, None, :, None]
        self.mask = self.mask / self.mask.sum((2, 4), keepdims=True)
        return y

    def backward(self, dy):
        d = self.mask * dy[:, :, None, :, None]
        n, h, _, w, _, c = d.shape
        return [d.reshape(n, 2 * h, 2 * w, c).astype(np.float32)]


class Average(Layer):
    operator = "AVERAGE_POOL_2D"
    size = 4

    def split(self, x):
        n, h, w, c = x.shape
        return x.reshape(n, h // self.size, self.size, w // self.size, self.size, c)

    def forward(self, x):
        self.shape = x.shape
        return self.split(x).mean((2, 4))

    def backward(self, dy):
        spread = np.empty(self.split(np.empty(self.shape)).shape, np.float32)
        spread[:] = dy[:, :, None, :, None] / self.size ** 2
        return [spread.reshape(self.shape)]


class Dense(Layer):
    operator = "FULLY_CONNECTED"

    def __init__(self, name, source, c, k, rng):
        super().__init__(name, [source])
        self.params = [rng.normal(0, np.sqrt(1 / c), (c, k)).astype(np.float32), np.zeros(k, np.float32)]

    def forward(self, x):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ self.params[0] + self.params[1]

    def backward(self, dy):
        self.grads = [self.x.T @ dy, dy.sum(0)]
        return [(dy @ self.params[0].T).reshape(self.shape)]


def build(rng):
    return [
        Conv("conv1", "image", 1, 16, 3, 1, rng),
        Conv("conv2", "conv1", 16, 32, 3, 2, rng),
        Depthwise("depthwise", "conv2", 32, 3, rng),
        Conv("pointwise", "depthwise", 32, 32, 1, 1, rng, relu=False),
        Add("residual", ["pointwise", "conv2"], relu=True),
        MaxPool("maxpool", ["residual"]),
        Conv("conv3", "maxpool", 32, 48, 3, 2, rng),
        Average("average", ["conv3"]),
        Dense("digit", "average", 2 * 2 * 48, 10, rng),
    ]


def forward(layers, x):
    values = {"image": x}
    for layer in layers:
        values[layer.name] = layer.forward(*(values[name] for name in layer.inputs))
    return values


def backward(layers, dy):
    grads = {layers[-1].name: dy}
    for layer in reversed(layers):
        for name, d in zip(layer.inputs, layer.backward(grads.pop(layer.name))):
            grads[name] = grads.get(name, 0) + d


# ---- training: softmax cross entropy, Adam, cosine decay --------------------------------------------

def as_float(images):
    return images[..., None].astype(np.float32) / 255


def predict(layers, images):
    parts = [forward(layers, as_float(images[i:i + 64]))[layers[-1].name] for i in range(0, len(images), 64)]
    return np.concatenate(parts).argmax(1)


def train(layers, images, labels, rng):
    params = [(layer, i) for layer in layers for i in range(len(layer.params))]
    mean = [np.zeros_like(layer.params[i]) for layer, i in params]
    square = [np.zeros_like(layer.params[i]) for layer, i in params]
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        loss = 0
        for start in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[start:start + BATCH]
            y = forward(layers, as_float(shifted(images[pick], rng)))[layers[-1].name]
            p = np.exp(y - y.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            loss -= np.log(p[np.arange(BATCH), labels[pick]] + 1e-9).mean()
            p[np.arange(BATCH), labels[pick]] -= 1
            backward(layers, p / BATCH)
            step += 1
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for n, (layer, i) in enumerate(params):
                g = layer.grads[i]
                mean[n] = 0.9 * mean[n] + 0.1 * g
                square[n] = 0.999 * square[n] + 0.001 * g * g
                fresh = 1 - 0.9 ** step, 1 - 0.999 ** step
                layer.params[i] -= (rate * mean[n] / fresh[0] / (np.sqrt(square[n] / fresh[1]) + 1e-8)).astype(np.float32)
        print("epoch %2d  loss %.4f" % (epoch + 1, loss / (len(order) // BATCH)), file=sys.stderr, flush=True)


# ---- quantisation: scales of weights per output channel, of activations per tensor -------------------

def multiplier(real):
    """real = m * 2^(shift - 31) with m of 31 bits."""
    mantissa, shift = np.frexp(np.float64(real))
    m = int(np.floor(mantissa * (1 << 31) + 0.5))
    return (m // 2, int(shift) + 1) if m == 1 << 31 else (m, int(shift))


def requantise(x, m, shift):
    """TensorFlow Lite's MultiplyByQuantizedMultiplier, over int64 arrays."""
    x = x << max(shift, 0)
    product = x * m
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = truncate(product + nudge)
    right = max(-shift, 0)
    mask = (1 << right) - 1
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))


def truncate(x):
    """x / 2^31, rounded towards zero."""
    return np.where(x >= 0, x >> 31, -((-x) >> 31))


class Quant:
    """Affine quantisation of one tensor; scales are kept as the file has them, in single precision."""

    def __init__(self, low, high):
        low, high = min(float(low), 0.0), max(float(high), 0.0)
        self.scale = np.float32((high - low) / 255)
        self.zero = int(np.clip(round(-128 - low / float(self.scale)), -128, 127))


def quantise_weights(layer, source):
    """Adds to the layer what the file holds: INT8 weights, scales, INT32 bias."""
    w, b = layer.params
    if isinstance(layer, Dense):
        high = np.abs(w).max() * np.ones(1)
    elif isinstance(layer, Depthwise):
        high = np.abs(w).max((0, 1, 3))
        w = w[..., 0]
    else:
        high = np.abs(w).max((0, 1, 2))
    layer.w_scale = np.maximum(high / 127, 1e-9).astype(np.float32)
    layer.w = np.clip(np.rint(w / layer.w_scale), -127, 127).astype(np.int64)
    layer.b_scale = (layer.w_scale * source.scale).astype(np.float32)
    layer.b = np.clip(np.rint(b / layer.b_scale), -2**31, 2**31 - 1).astype(np.int64)


def calibrate(layers, images):
    values = forward(layers, as_float(images))
    quant = {"image": Quant(0, 1)}
    for layer in layers:
        if layer.operator in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
            quant[layer.name] = quant[layer.inputs[0]]  # pooling keeps the scale
        else:
            quant[layer.name] = Quant(values[layer.name].min(), values[layer.name].max())
    for layer in layers:
        if layer.params:
            quantise_weights(layer, quant[layer.inputs[0]])
    return quant


def accumulate(layer, x, zero):
    """Sums of (x - zero) * w + b, of convolutions and the fully connected layer."""
    x = x.astype(np.int64) - zero
    if isinstance(layer, Dense):
        return x.reshape(len(x), -1) @ layer.w + layer.b
    windows = patches(x, layer.kernel, layer.stride)
    if isinstance(layer, Depthwise):
        return np.einsum("nyxrsc,rsc->nyxc", windows, layer.w) + layer.b
    w = layer.w.reshape(-1, layer.w.shape[3]).astype(np.float64)  # exact: the sums stay below 2^53
    y = windows.reshape(-1, len(w)).astype(np.float64) @ w
    return np.rint(y).astype(np.int64).reshape(windows.shape[:3] + (-1,)) + layer.b


def integer_layer(layer, inputs, quant):
    """One operator in TensorFlow Lite's integer arithmetic."""
    out = quant[layer.name]
    source = [quant[name] for name in layer.inputs]
    if layer.operator == "MAX_POOL_2D":
        return layer.split(inputs[0]).max((2, 4))
    if layer.operator == "AVERAGE_POOL_2D":
        total, n = layer.split(inputs[0]).sum((2, 4)), layer.size ** 2
        return np.where(total > 0, (total + n // 2) // n, -((-total + n // 2) // n))
    if layer.operator == "ADD":
        twice = 2 * max(float(source[0].scale), float(source[1].scale))
        total = sum(requantise((x - q.zero) << 20, *multiplier(float(q.scale) / twice))
                    for x, q in zip(inputs, source))
        y = requantise(total, *multiplier(twice / ((1 << 20) * float(out.scale))))
    else:
        total = accumulate(layer, inputs[0], source[0].zero)
        y = np.empty_like(total)
        for k in range(total.shape[-1]):
            w_scale = float(layer.w_scale[k if len(layer.w_scale) > 1 else 0])
            y[..., k] = requantise(total[..., k], *multiplier(float(source[0].scale) * w_scale / float(out.scale)))
    return np.clip(y + out.zero, out.zero if layer.relu else -128, 127)


def integer_predict(layers, quant, images):
    said = []
    for start in range(0, len(images), 60):
        values = {"image": images[start:start + 60, :, :, None].astype(np.int64) - 128}
        for layer in layers:
            values[layer.name] = integer_layer(layer, [values[name] for name in layer.inputs], quant)
        said.append(values[layers[-1].name].argmax(1))
    return np.concatenate(said)


# ---- files --------------------------------------------------------------------------------------

def options(layer):
    activation = tflite.RELU if layer.relu else tflite.NONE
    if isinstance(layer, Conv):
        return tflite.conv_options(layer.stride, activation)
    if isinstance(layer, Depthwise):
        return tflite.depthwise_options(layer.stride, activation)
    if isinstance(layer, (MaxPool, Average)):
        return tflite.pool_options(layer.size, layer.size)
    return tflite.activation_options(activation)


def stored_weights(layer):
    """Shape, axis of the scales and values in the order of TensorFlow Lite."""
    if isinstance(layer, Dense):
        return layer.w.T, 0
    if isinstance(layer, Depthwise):
        return layer.w[None], 3
    return layer.w.transpose(3, 0, 1, 2), 0


def model_file(layers, quant, shapes):
    model = tflite.Model("digit classifier, trained by tools/train_digits.py")

    def activation(name, shape):
        return model.tensor(name, tflite.INT8, shape, [quant[name].scale], [quant[name].zero])

    index = {"image": activation("image", (1,) + shapes["image"][1:])}
    model.inputs = [index["image"]]
    for layer in layers:
        inputs = [index[name] for name in layer.inputs]
        if isinstance(layer, Dense):
            flat = (1, layer.params[0].shape[0])
            reshaped = model.tensor("flat", tflite.INT8, flat, [quant["average"].scale], [quant["average"].zero])
            shape = model.tensor("flat/shape", tflite.INT32, (2,), data=np.array(flat, "<i4").tobytes())
            model.operator("RESHAPE", inputs + [shape], [reshaped], tflite.reshape_options(flat))
            inputs = [reshaped]
        if layer.params:
            w, axis = stored_weights(layer)
            inputs.append(model.tensor(layer.name + "/weights", tflite.INT8, w.shape, list(layer.w_scale),
                                       [0] * len(layer.w_scale), axis, w.astype(np.int8).tobytes()))
            inputs.append(model.tensor(layer.name + "/bias", tflite.INT32, layer.b.shape, list(layer.b_scale),
                                       [0] * len(layer.b_scale), 0, layer.b.astype("<i4").tobytes()))
        index[layer.name] = activation(layer.name, (1,) + shapes[layer.name][1:])
        model.operator(layer.operator, inputs, [index[layer.name]], options(layer))
    probability = model.tensor("probability", tflite.INT8, (1, 10), [1 / 256], [-128])
    model.operator("SOFTMAX", [index[layers[-1].name]], [probability], tflite.softmax_options())
    model.outputs = [probability]
    return model.bytes()


def main():
    where = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo")
    digits = load_digits()
    small, labels = digits.images.astype(np.uint8), digits.target
    images = enlarge(small)
    rng = np.random.default_rng(SEED)
    layers = build(rng)
    train(layers, images[:-HELD_OUT], labels[:-HELD_OUT], rng)

    quant = calibrate(layers, images[:256])
    shapes = {name: value.shape for name, value in forward(layers, as_float(images[:1])).items()}
    held_out, truth = images[-HELD_OUT:], labels[-HELD_OUT:]
    in_float = predict(layers, held_out)
    in_integer = integer_predict(layers, quant, held_out)

    with open(os.path.join(where, "digits.tflite"), "wb") as out:
        out.write(model_file(layers, quant, shapes))
    with open(os.path.join(where, "digits.txt"), "w") as out:
        out.write("# label, then 8x8 pixels by rows: 0-9a-g are grey levels 0 to 16\n")
        for label, image in zip(truth, small[-HELD_OUT:]):
            out.write("%d %s\n" % (label, "".join("0123456789abcdefg"[v] for v in image.flat)))
    with open(os.path.join(where, "digits.reference"), "w") as out:
        out.write("# written by tools/train_digits.py: the held-out images of digits.txt as the trained network sees them\n")
        out.write("images %d\nfloat_correct %d\nint8_correct %d\n" %
                  (HELD_OUT, (in_float == truth).sum(), (in_integer == truth).sum()))
        out.write("int8_says %s\n" % "".join(map(str, in_integer)))
    print("held out: float %d, int8 %d of %d" % ((in_float == truth).sum(), (in_integer == truth).sum(), HELD_OUT))


if __name__ == "__main__":
    main()
