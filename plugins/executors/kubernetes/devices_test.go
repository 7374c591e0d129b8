package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// devicePlugin gives the kubelet of a node devices, and containers their names in NVIDIA_VISIBLE_DEVICES, as NVIDIA's
// own plugin does.
type devicePlugin struct {
	deviceplugin.UnimplementedDevicePluginServer
	ids []string
}

func (p *devicePlugin) GetDevicePluginOptions(context.Context, *deviceplugin.Empty) (*deviceplugin.DevicePluginOptions,
	error) {
	return &deviceplugin.DevicePluginOptions{}, nil
}

func (p *devicePlugin) ListAndWatch(_ *deviceplugin.Empty, to deviceplugin.DevicePlugin_ListAndWatchServer) error {
	var list deviceplugin.ListAndWatchResponse
	for _, id := range p.ids {
		list.Devices = append(list.Devices, &deviceplugin.Device{ID: id, Health: deviceplugin.Healthy})
	}
	if err := to.Send(&list); err != nil {
		return err
	}
	<-to.Context().Done()
	return nil
}

func (p *devicePlugin) Allocate(_ context.Context, r *deviceplugin.AllocateRequest) (*deviceplugin.AllocateResponse,
	error) {
	answer := &deviceplugin.AllocateResponse{}
	for _, c := range r.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &deviceplugin.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(c.DevicesIds, ",")}})
	}
	return answer, nil
}

// serve registers the plugin with the kubelet of a node, until the end of the test.
func (p *devicePlugin) serve(t *testing.T, w *world, node, resource string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(w.Config), "nodes", node, "lib", "device-plugins")
	l, err := net.Listen("unix", filepath.Join(dir, "test.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	deviceplugin.RegisterDevicePluginServer(server, p)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	c, err := grpc.NewClient("unix:"+filepath.Join(dir, "kubelet.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = deviceplugin.NewRegistrationClient(c).Register(t.Context(), &deviceplugin.RegisterRequest{
		Version: deviceplugin.Version, Endpoint: "test.sock", ResourceName: resource})
	if err != nil {
		t.Fatal(err)
	}
}

// Two trials on a node have different GPUs, those that the kubelet's device plugin has given to their pods.
func testDevicePlugin(t *testing.T, w *world) {
	ids := []string{"GPU-4a5e1f60-0001", "GPU-4a5e1f60-0002"}
	(&devicePlugin{ids: ids}).serve(t, w, "n1", "example.com/gpu")
	dir := w.file(t, "devices", `trainable:
  command: [sh, -c, 'echo "$CUDA_VISIBLE_DEVICES" >&2; echo "{{\"loss\": 1}}"; while :; do sleep 1; done']
trials: 2
concurrency: 2
resources: {cpu: 0.1, gpu: 1}
executor: `+w.executor(", gpu: example.com/gpu")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "two trials have results", func() bool { return w.results(dir, "devices") == 2 })
	for _, p := range w.pods(t) {
		limit := p.Spec.Containers[0].Resources.Limits["example.com/gpu"]
		if limit.Value() != 1 || p.Spec.NodeName != "n1" {
			t.Errorf("a pod on %s with %v", p.Spec.NodeName, p.Spec.Containers[0].Resources)
		}
	}
	stop(host)
	var seen []string
	logs, _ := filepath.Glob(filepath.Join(dir, "results", "devices", "trials", "*", "stderr"))
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, strings.TrimSpace(string(text)))
	}
	slices.Sort(seen)
	if !slices.Equal(seen, ids) {
		t.Errorf("the trials have the GPUs %q, want %q", seen, ids)
	}
}
