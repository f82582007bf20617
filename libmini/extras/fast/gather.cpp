// Gathering by pieces: see gather.hpp.
//
// Pieces of 8 or fewer positions are copied by one load and one store of 8 floats. The
// floats after a shorter piece are overwritten by the next piece, so pieces are copied in
// ascending order. Where a piece begins in the slab differs between taps by the same
// offset for all pieces, so the list of pieces is made once per range.
//
// With stride s, consecutive positions read every s-th column. A row of the slab holds
// the columns 0, s, 2 s, ..., then the columns 1, s + 1, ...: under each tap, consecutive
// positions are then neighbours. Residues (column mod s) of no tap are left out.

#include "libmini/extras/fast/gather.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "libmini/extras/fast/vector.hpp"

namespace mini::kernels::cpu {
namespace {

// Rows are prefetched this many channels ahead: they are far apart in memory, so the
// processor does not find out that they follow.
constexpr int64_t kChannelsAhead = 8;
constexpr int64_t kFloatsOfLine = 16;  // of a cache line

// Copies vectors of `size` floats; the last may overlap the one before it. REQUIRES:
// count >= size.
template <int64_t size>
void copy_vectors(float* to, const float* from, int64_t count) {
    for (int64_t k = 0; k < count; k += size) {
        const int64_t at = std::min(k, count - size);
        std::memcpy(to + at, from + at, size * sizeof(float));
    }
}

// As std::copy_n, without a call: most runs are short.
void copy_run(float* to, const float* from, int64_t count) {
    if (count >= 8)
        copy_vectors<8>(to, from, count);
    else if (count >= 4)
        copy_vectors<4>(to, from, count);
    else
        for (int64_t k = 0; k < count; ++k) to[k] = from[k];
}

}  // namespace

void GatherAxis::remove_padding_taps() {
    const auto reads_padding = [&](const AxisTap& tap) {
        const int64_t first = std::max<int64_t>(0, divide_up(-tap.input, stride));
        return first >= outputs || first * stride + tap.input >= inputs;
    };
    const AxisTap last = taps.back();
    std::erase_if(taps, reads_padding);
    if (taps.empty()) taps.push_back(last);
}

GatherAxis forward_axis(int64_t extent, const Window& window) {
    GatherAxis axis{extent, window.output(extent), window.stride, {}};
    for (int64_t p = 0; p < window.kernel; ++p)
        axis.taps.push_back({p - window.padding, p});
    axis.remove_padding_taps();
    return axis;
}

GatherAxis backward_axis(int64_t extent, const Window& window, int64_t phase) {
    GatherAxis axis{
        window.output(extent), (extent - phase - 1) / window.stride + 1, 1, {}};
    for (int64_t p = window.kernel; p-- > 0;) {
        const int64_t distance = phase + window.padding - p;
        if (distance % window.stride == 0)
            axis.taps.push_back({distance / window.stride, p});
    }
    if (!axis.taps.empty()) axis.remove_padding_taps();
    return axis;
}

std::vector<int64_t> Gather::weights(int64_t kernel) const {
    std::vector<int64_t> indices;
    for (const AxisTap& row : rows.taps)
        for (const AxisTap& column : columns.taps)
            indices.push_back(row.weight * kernel + column.weight);
    return indices;
}

Gatherer::Gatherer(const float* x, const Gather& gather) : x_(x), gather_(gather) {
    const auto& [rows, columns] = std::tie(gather.rows, gather.columns);
    const int64_t stride = columns.stride;
    residues_ = std::min(stride, columns.span());
    slab_columns_ = columns.outputs + (columns.span() - 1) / stride;
    for (const AxisTap& row : rows.taps)
        for (const AxisTap& column : columns.taps) {
            const int64_t i = row.input - rows.taps.front().input;
            const int64_t j = column.input - columns.taps.front().input;
            tap_offsets_.push_back((i * residues_ + j % stride) * slab_columns_ +
                                   j / stride);
        }
}

void Gatherer::select(int64_t begin, int64_t end, GatherLayout layout) {
    begin_ = begin;
    count_ = end - begin;
    layout_ = layout;
    pieces_.clear();
    runs_.clear();
    const GatherAxis& rows = gather_.rows;
    const int64_t width = gather_.columns.outputs, slab_width = residues_ * slab_columns_;
    int64_t slab_rows = 0, last_image = -1;
    for (int64_t row = begin / width; row * width < end; ++row) {
        // Consecutive rows of one image share rows of the slab.
        const int64_t image = row / rows.outputs, i = row % rows.outputs;
        const int64_t added = image == last_image ? rows.stride : rows.span();
        last_image = image;
        slab_rows += added;
        const int64_t first = slab_rows - rows.span();  // the row of the first tap
        for (int64_t k = std::max(first, slab_rows - added); k < slab_rows; ++k)
            add_runs(image, i * rows.stride + rows.taps.front().input + k - first,
                     k * slab_width);
        add_pieces(std::max(begin, row * width), std::min(end, (row + 1) * width),
                   first * slab_width - row * width);
    }
    slab_.assign(static_cast<size_t>(slab_rows * slab_width + kLanes), 0.0f);
}

// Adds the positions [begin, end) of an output row. `from` is where the slab would have
// position 0 if it had all positions of the row and of the rows before.
void Gatherer::add_pieces(int64_t begin, int64_t end, int64_t from) {
    while (begin < end) {
        const int64_t at = begin - begin_;
        const auto place = static_cast<int32_t>(from + begin);
        const int64_t room = layout_.width - at % layout_.width;
        pieces_.push_back({static_cast<int32_t>(layout_.offset(at)), place});
        begin += std::min({kLanes, room, end - begin});
    }
}

// Adds row `row` of an image, which the slab has from `to` on, unless the row is padding.
// A row that continues the last run, in the image as in the slab, is added to that run.
void Gatherer::add_runs(int64_t image, int64_t row, int64_t to) {
    const auto& [inputs, outputs, stride, taps] = gather_.columns;
    if (row < 0 || row >= gather_.rows.inputs) return;
    for (int64_t residue = 0; residue < residues_; ++residue, to += slab_columns_) {
        // Element q of the slab is column q * stride + first.
        const int64_t first = taps.front().input + residue;
        const int64_t begin = std::max<int64_t>(0, divide_up(-first, stride));
        const int64_t end = std::min(slab_columns_, divide_up(inputs - first, stride));
        if (begin >= end) continue;
        const Run run{to + begin, image, row * inputs + begin * stride + first,
                      end - begin};
        Run* const last = runs_.empty() ? nullptr : &runs_.back();
        if (last && stride == 1 && last->image == image &&
            last->to + last->count == run.to && last->from + last->count == run.from)
            last->count += run.count;
        else
            runs_.push_back(run);
    }
}

void Gatherer::load_channel(int64_t channel) {
    const int64_t stride = gather_.columns.stride;
    const int64_t plane = gather_.rows.inputs * gather_.columns.inputs;
    const bool has_ahead = channel + kChannelsAhead < gather_.channels;
    for (const auto& [to, image, from, count] : runs_) {
        const float* x = x_ + (image * gather_.channels + channel) * plane + from;
        float* slab = slab_.data() + to;
        for (int64_t k = 0; has_ahead && k < count * stride; k += kFloatsOfLine)
            __builtin_prefetch(x + kChannelsAhead * plane + k);
        if (stride == 1)
            copy_run(slab, x, count);
        else
            for (int64_t k = 0; k < count; ++k) slab[k] = x[k * stride];
    }
}

void Gatherer::write(float* to, int64_t tap) const {
    const float* from = slab_.data() + tap_offsets_[static_cast<size_t>(tap)];
    for (const Piece& piece : pieces_) store(to + piece.to, load(from + piece.from));
    if (const int64_t rest = count_ % kPadding; rest > 0)
        std::fill_n(to + layout_.offset(count_), kPadding - rest, 0.0f);
}

}  // namespace mini::kernels::cpu
