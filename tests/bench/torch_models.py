"""The models of compare.py in PyTorch: the tutorial's ConvNet, and ResNets with torchvision's
layers, written out here because torchvision may be absent."""

import torch.nn.functional as F
from torch import nn


class ConvNet(nn.Module):
    """The tutorial's network; returns scores."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2))
        x = F.relu(self.fc1(x.view(-1, 320)))
        return self.fc2(F.dropout(x, training=self.training))


def conv_norm(channels, width, kernel, stride=1):
    return nn.Sequential(
        nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(width))


class Block(nn.Module):
    """y = relu(x + f(x)). f: two 3x3 convolutions, or 1x1, 3x3 and 1x1 with 4 times the width."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        out = 4 * width if bottleneck else width
        sizes = [(width, 1, 1), (width, 3, stride), (out, 1, 1)] if bottleneck else [
            (width, 3, stride), (width, 3, 1)]
        layers = []
        before = channels
        for size, kernel, step in sizes:
            layers += [conv_norm(before, size, kernel, step), nn.ReLU(inplace=True)]
            before = size
        self.body = nn.Sequential(*layers[:-1])
        self.shortcut = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = conv_norm(channels, out, 1, stride)

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


class ResNet(nn.Module):
    def __init__(self, depths, bottleneck, classes):
        super().__init__()
        self.stem = conv_norm(3, 64, 7, 2)
        blocks, channels = [], 64
        for layer, depth in enumerate(depths):
            width = 64 << layer
            for block in range(depth):
                stride = 2 if layer > 0 and block == 0 else 1
                blocks.append(Block(channels, width, stride, bottleneck))
                channels = 4 * width if bottleneck else width
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x), inplace=True), 3, 2, 1)
        return self.fc(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


def make(name):
    """Returns a model and the shape of an image, as bench_worker.cpp does."""
    if name == "resnet18":
        return ResNet((2, 2, 2, 2), False, 10), (3, 32, 32)
    if name == "resnet50":
        return ResNet((3, 4, 6, 3), True, 1000), (3, 224, 224)
    return ConvNet(), (1, 28, 28)
