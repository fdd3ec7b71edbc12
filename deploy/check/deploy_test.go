// Package check checks files of the folder above: the Kubernetes manifests with
// the types of Kubernetes, and the compose file with the library of Docker
// Compose. It is a module of its own, because these compile for minutes;
// scripts/release-check runs it.
package check

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// manifests are the objects that kustomize makes of an overlay with the folder and its
// components.
type manifests struct {
	config     corev1.ConfigMap
	service    corev1.Service
	deployment appsv1.Deployment
	network    networkingv1.NetworkPolicy
	disruption policyv1.PodDisruptionBudget
	metrics    corev1.Service
	operators  corev1.Service
	monitor    monitoringv1.ServiceMonitor
	backup     batchv1.CronJob
	check      batchv1.CronJob
	backups    corev1.PersistentVolumeClaim
}

// noError ends a test if a call failed. This module cannot import testenv.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T) manifests {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "testdata/overlay")
	noError(t, err)
	var m manifests
	targets := map[string]any{
		"ConfigMap": &m.config, "Service merchant-orders": &m.service, "Deployment": &m.deployment,
		"NetworkPolicy": &m.network, "PodDisruptionBudget": &m.disruption,
		"Service merchant-orders-metrics": &m.metrics, "Service merchant-orders-operators": &m.operators, "ServiceMonitor": &m.monitor,
		"CronJob merchant-orders-backup": &m.backup, "CronJob merchant-orders-check": &m.check, "PersistentVolumeClaim": &m.backups,
	}
	for _, object := range objects.Resources() {
		name := object.GetKind()
		if name == "Service" || name == "CronJob" {
			name += " " + object.GetName()
		}
		target := targets[name]
		if target == nil {
			t.Fatalf("%q is unknown or occurs twice", name)
		}
		delete(targets, name)
		text, err := object.AsYAML()
		if err == nil {
			err = yaml.UnmarshalStrict(text, target)
		}
		if err != nil {
			t.Errorf("%s: %v", object.GetKind(), err)
		}
	}
	for kind := range targets {
		t.Errorf("there is no %s", kind)
	}
	return m
}

// TestKubernetes decodes the manifests strictly, and checks that names of one
// object that others mention exist.
func TestKubernetes(t *testing.T) {
	m := build(t)
	pod := m.deployment.Spec.Template
	for kind, selector := range map[string]map[string]string{
		"Deployment": m.deployment.Spec.Selector.MatchLabels, "Service": m.service.Spec.Selector, "Service for metrics": m.metrics.Spec.Selector,
		"Service for operators": m.operators.Spec.Selector,
		"NetworkPolicy":         m.network.Spec.PodSelector.MatchLabels, "PodDisruptionBudget": m.disruption.Spec.Selector.MatchLabels,
	} {
		if len(selector) == 0 || fmt.Sprint(selector) != fmt.Sprint(pod.Labels) {
			t.Errorf("%s selects %v, the pods have %v", kind, selector, pod.Labels)
		}
	}
	container := pod.Spec.Containers[0]
	ports := []string{}
	for _, port := range container.Ports {
		ports = append(ports, port.Name)
	}
	mentioned := []string{
		m.service.Spec.Ports[0].TargetPort.String(), m.metrics.Spec.Ports[0].TargetPort.String(), m.operators.Spec.Ports[0].TargetPort.String(), container.ReadinessProbe.HTTPGet.Port.String(),
		container.LivenessProbe.HTTPGet.Port.String(), container.StartupProbe.HTTPGet.Port.String(),
	}
	for _, rule := range m.network.Spec.Ingress {
		for _, port := range rule.Ports {
			mentioned = append(mentioned, port.Port.String())
		}
	}
	for _, name := range mentioned {
		if !slices.Contains(ports, name) {
			t.Errorf("the container has no port %q, but %q", name, ports)
		}
	}
	// The monitor finds the Service for metrics, and no other one, and gives the job the name
	// that the alerts know.
	labels := m.monitor.Spec.Selector.MatchLabels
	if len(labels) == 0 || fmt.Sprint(labels) != fmt.Sprint(m.metrics.Labels) || fmt.Sprint(labels) == fmt.Sprint(m.service.Labels) ||
		m.monitor.Spec.Endpoints[0].Port != m.metrics.Spec.Ports[0].Name || m.metrics.Labels[m.monitor.Spec.JobLabel] != "merchant-orders" {
		t.Errorf("the monitor %+v does not find the service %+v", m.monitor.Spec, m.metrics)
	}
	// Monitoring reaches the port for metrics only.
	monitoring, _ := strconv.Atoi(argument(container.Args, "--metrics-listen", "0.0.0.0:"))
	if rule := m.network.Spec.Ingress[1]; len(m.network.Spec.Ingress) != 2 || len(rule.Ports) != 1 ||
		rule.Ports[0].Port.String() != container.Ports[1].Name || int(container.Ports[1].ContainerPort) != monitoring {
		t.Errorf("monitoring reaches %+v of %+v, started with %q", rule.Ports, container.Ports, container.Args)
	}
	// The component for operators opens the admin port, to the ingress controller only.
	if argument(container.Args, "--admin-listen", "0.0.0.0:") != "8081" || m.network.Spec.Ingress[0].Ports[1].Port.String() != "operators" {
		t.Errorf("operators reach %+v, started with %q", m.network.Spec.Ingress[0].Ports, container.Args)
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers, m.check.Spec.JobTemplate.Spec.Template.Spec.Containers,
		m.backup.Spec.JobTemplate.Spec.Template.Spec.InitContainers[1:]) {
		if c.EnvFrom[0].ConfigMapRef.Name != m.config.Name {
			t.Errorf("%s reads settings from %s, not from %s", c.Name, c.EnvFrom[0].ConfigMapRef.Name, m.config.Name)
		}
		if c.EnvFrom[1].SecretRef.Name != "merchant-orders" {
			t.Errorf("%s reads the secret %s", c.Name, c.EnvFrom[1].SecretRef.Name)
		}
		checkLockedDown(t, c)
	}
}

func checkLockedDown(t *testing.T, c corev1.Container) {
	t.Helper()
	if !*c.SecurityContext.ReadOnlyRootFilesystem || *c.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("%s is not locked down", c.Name)
	}
}

// TestNightly checks the CronJobs: a Service must not take their pods for those that serve.
func TestNightly(t *testing.T) {
	m := build(t)
	serving := m.deployment.Spec.Template
	for name, job := range map[string]batchv1.CronJob{"backup": m.backup, "check": m.check} {
		pod := job.Spec.JobTemplate.Spec.Template
		if fmt.Sprint(pod.Labels) == fmt.Sprint(serving.Labels) || job.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
			t.Errorf("%s: labels %v, concurrency %s", name, pod.Labels, job.Spec.ConcurrencyPolicy)
		}
		if !reflect.DeepEqual(pod.Spec.SecurityContext, serving.Spec.SecurityContext) || *pod.Spec.AutomountServiceAccountToken {
			t.Errorf("%s: %+v", name, pod.Spec)
		}
	}
	check := m.check.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if check.Image != serving.Spec.Containers[0].Image || fmt.Sprint(check.Args) != "[check]" {
		t.Errorf("check: image %s, arguments %q", check.Image, check.Args)
	}
	backup := m.backup.Spec.JobTemplate.Spec.Template.Spec
	dump, files, record := backup.InitContainers[0], backup.InitContainers[1], backup.Containers[0]
	for _, c := range []corev1.Container{dump, record} {
		checkLockedDown(t, c)
		if c.EnvFrom[0].SecretRef.Name != "merchant-orders" {
			t.Errorf("backup: %s reads the secret %s", c.Name, c.EnvFrom[0].SecretRef.Name)
		}
	}
	if backup.Volumes[0].PersistentVolumeClaim.ClaimName != m.backups.Name || dump.VolumeMounts[0].Name != backup.Volumes[0].Name ||
		files.Image != serving.Spec.Containers[0].Image || files.VolumeMounts[0].Name != backup.Volumes[1].Name || m.config.Data["MERCHANT_ORDERS_TO_STORAGE"] == "" {
		t.Errorf("backup: %+v", backup)
	}
}

// argument returns the value of a flag after its prefix; empty: it has another one.
func argument(args []string, flag, prefix string) string {
	after := slices.Index(args, flag) + 1
	value, _ := strings.CutPrefix(args[after], prefix)
	if value == args[after] {
		return ""
	}
	return value
}

// TestCompose loads the compose file as Docker Compose does, with its schema.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"}, cli.WithEnv([]string{
		"DATABASE_PASSWORD=x", "STORAGE_KEY=x", "STORAGE_SECRET=x", "ADMIN_HOST=admin.example.com", "HOST=orders.example.com",
	}))
	noError(t, err)
	project, err := options.LoadProject(t.Context())
	noError(t, err)
	for _, name := range []string{"first", "second"} {
		service, err := project.GetService(name)
		if err != nil || !service.ReadOnly || service.Image != "merchant-orders" || len(service.DependsOn) == 0 {
			t.Errorf("%s: %v %+v", name, err, service)
		}
	}
	without, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"})
	noError(t, err)
	if _, err := without.LoadProject(t.Context()); err == nil {
		t.Error("the file loads without passwords")
	}
}
