# The headers that are installed. docs/pages/library.md has the first list too, as the public
# interface; a test compares both with what is installed.

# The public headers of each component, relative to libmini/.
set(MINI_PUBLIC_HEADERS_core core/error.hpp core/events.hpp core/half.hpp core/log.hpp
    core/parallel.hpp)
set(MINI_PUBLIC_HEADERS_random random/python_random.hpp random/random.hpp)
set(MINI_PUBLIC_HEADERS_tensor tensor/device.hpp tensor/dtype.hpp tensor/ops.hpp
    tensor/print.hpp tensor/shape.hpp tensor/storage.hpp tensor/tensor.hpp)
set(MINI_PUBLIC_HEADERS_autograd autograd/functions.hpp autograd/grad_check.hpp
    autograd/graph.hpp autograd/node.hpp)
set(MINI_PUBLIC_HEADERS_nn nn/activation.hpp nn/container.hpp nn/conv.hpp nn/dropout.hpp
    nn/init.hpp nn/linear.hpp nn/loss.hpp nn/models.hpp nn/module.hpp nn/norm.hpp
    nn/pool.hpp)
set(MINI_PUBLIC_HEADERS_optim optim/adam.hpp optim/lr_scheduler.hpp optim/optimizer.hpp
    optim/optimizer_state.hpp optim/sgd.hpp)
set(MINI_PUBLIC_HEADERS_data data/batch_sampler.hpp data/dataset.hpp
    data/distributed_eval_sampler.hpp data/distributed_sampler.hpp
    data/grouped_batch_sampler.hpp data/loader.hpp data/make_sampler.hpp
    data/partition.hpp data/partition_dataset.hpp data/random_split.hpp data/sampler.hpp
    data/tensor_dataset.hpp data/transform.hpp)
set(MINI_PUBLIC_HEADERS_datasets datasets/cifar10.hpp datasets/digits.hpp
    datasets/drawn_images.hpp datasets/image_dataset.hpp datasets/image_folder.hpp
    datasets/locate.hpp datasets/mnist.hpp)
set(MINI_PUBLIC_HEADERS_vision vision/resnet.hpp vision/transforms.hpp)
set(MINI_PUBLIC_HEADERS_io io/checkpoint.hpp io/safetensors.hpp)
set(MINI_PUBLIC_HEADERS_distributed distributed/group/init_options.hpp
    distributed/group/process_group.hpp distributed/launch/default_group.hpp
    distributed/launch/launch.hpp distributed/launch/spawn.hpp
    distributed/transport/medium.hpp distributed/transport/reduce_op.hpp)
set(MINI_PUBLIC_HEADERS_parallel parallel/average_gradients.hpp
    parallel/average_parameters.hpp parallel/averaging_modules.hpp parallel/comm_hooks.hpp
    parallel/data_parallel.hpp parallel/ddp.hpp parallel/ddp_options.hpp
    parallel/error_feedback.hpp parallel/join.hpp parallel/power_sgd.hpp
    parallel/reduce_scatter_hook.hpp parallel/replicated_module.hpp parallel/top_k.hpp
    parallel/zero.hpp)
set(MINI_PUBLIC_HEADERS_extras extras/use_all.hpp)
set(MINI_PUBLIC_HEADERS_training training/accuracy.hpp training/statistics.hpp)

# The headers that public headers include, but which are not public.
set(MINI_DETAIL_HEADERS
    core/world.hpp data/epoch_state.hpp distributed/group/call.hpp
    distributed/group/current_group.hpp distributed/transport/collective.hpp
    kernels/kernels.hpp parallel/bucket.hpp parallel/device_worker.hpp
    parallel/gradient_buckets.hpp parallel/reducer.hpp parallel/replicate.hpp
    parallel/scatter_gather.hpp parallel/used_parameters.hpp parallel/wrapped_parameters.hpp
    random/mersenne_twister.hpp tensor/autograd_meta.hpp)
