// Karpenter with its KWOK provider, as its own main.go has it, but with its metrics and probes on loopback only.
package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	// Its options know ports and no addresses.
	ctrl.NewManager = func(config *rest.Config, options manager.Options) (manager.Manager, error) {
		options.Metrics.BindAddress = "127.0.0.1" + options.Metrics.BindAddress
		options.HealthProbeBindAddress = "127.0.0.1" + options.HealthProbeBindAddress
		return manager.New(config, options)
	}
	ctx, op := operator.NewOperator()
	instanceTypes, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		panic(fmt.Sprintf("instance types: %v", err))
	}
	undecorated := kwok.NewCloudProvider(ctx, op.GetClient(), instanceTypes)
	cloudProvider := overlay.Decorate(undecorated, op.GetClient(), op.InstanceTypeStore)
	clusterState := state.NewCluster(op.Clock, op.GetClient(), cloudProvider)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx,
		op.Manager,
		op.Clock,
		op.GetClient(),
		op.EventRecorder,
		cloudProvider,
		undecorated,
		clusterState,
		op.InstanceTypeStore,
	)...).Start(ctx)
}
