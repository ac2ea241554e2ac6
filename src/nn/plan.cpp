#include "plan.hpp"

#include <algorithm>

#include "base/aligned.hpp"
#include "base/error.hpp"

namespace wasp::nn {

namespace {

class Planner {
public:
    Planner(const Layers& layers, const Kernels& kernels, int groups)
        : layers_(layers), kernels_(kernels) {
        plan_.groups = groups;
        const auto batched = std::ranges::find_if(
            layers, [](const auto& layer) { return layer->over_many_groups(); });
        plan_.first_batched = static_cast<std::size_t>(batched - layers.begin());
    }

    Plan make() {
        Place x = activations(layers_.front()->input, 0, false);
        Place dx;  // nobody wants the gradient of the images
        for (std::size_t maker = 0; maker < layers_.size();) {
            // Layers (maker, reader) change in place what `maker` makes and `reader` reads.
            std::size_t reader = maker + 1;
            bool keep = layers_[maker]->needs_output();
            for (; reader < layers_.size() && layers_[reader]->in_place(); ++reader) {
                ASSERT(!keep, "layer {} changes what the one before needs", reader);
                keep = layers_[reader]->needs_output();
            }
            const Place y = activations(layers_[maker]->output, reader, keep);
            const Place dy = reserve(y.shape, y.halo, is_batched(reader) ? plan_.groups : 1);
            add_stage(maker, x, y, dx, dy);
            for (std::size_t i = maker + 1; i < reader; ++i) add_stage(i, y, y, dy, dy);
            x = y;
            dx = dy;
            maker = reader;
        }
        return plan_;
    }

private:
    bool is_batched(std::size_t layer) const { return layer >= plan_.first_batched; }

    /// What layer `reader` reads, if there is one.   keep: until the backward pass.
    Place activations(Shape shape, std::size_t reader, bool keep) {
        int halo = 0;
        if (reader < layers_.size()) {
            halo = layers_[reader]->halo();
            keep = keep || layers_[reader]->needs_input();
        }
        return reserve(shape, halo, keep || is_batched(reader) ? plan_.groups : 1);
    }

    Place reserve(Shape shape, int halo, int slots) {
        const Activations group{.shape = shape, .halo = halo, .lanes = kernels_.lanes};
        Place place = reserve(group.floats_per_group(), slots);
        place.shape = shape;
        place.halo = halo;
        return place;
    }

    Place reserve(std::size_t floats, int slots) {
        constexpr std::size_t line = cache_line / sizeof(float);
        const Place place{.slots = slots, .offset = plan_.floats, .floats = floats};
        const std::size_t end = plan_.floats + static_cast<std::size_t>(slots) * floats;
        plan_.floats = (end + line - 1) / line * line;
        return place;
    }

    void add_stage(std::size_t index, const Place& x, const Place& y, const Place& dx,
                   const Place& dy) {
        const Layer& layer = *layers_[index];
        const Place memo = reserve(layer.memo_floats(kernels_), plan_.groups);
        plan_.stages.push_back({&layer, x, y, dx, dy, memo, plan_.weights});
        for (const auto& parameter : layer.parameters()) plan_.weights += parameter.count();
    }

    const Layers& layers_;
    const Kernels& kernels_;
    Plan plan_;
};

}  // namespace

Plan make_plan(const Layers& layers, const Kernels& kernels, int groups) {
    return Planner(layers, kernels, groups).make();
}

}  // namespace wasp::nn
