package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

const (
	namespace   = "dns"
	samples     = "config/samples"
	sampleFile  = samples + "/10-designate-multipool-config.yaml"
	editsFolder = ".artifacts/demo"
)

// tour is the main job, step by step.
type tour struct {
	*console
	kube  client.Client
	plane *controlplane.ControlPlane
	pools *corev1.ConfigMap
}

func newTour(plane *controlplane.ControlPlane, out io.Writer) (*tour, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	kube, err := client.New(plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(plane.Root, sampleFile))
	if err != nil {
		return nil, err
	}
	pools := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, pools); err != nil {
		return nil, fmt.Errorf("%s: %w", sampleFile, err)
	}
	return &tour{
		console: &console{
			out: out, kubectl: plane.Kubectl, kubeconfig: plane.KubeconfigPath, dir: plane.Root, healthy: plane.Err,
		},
		kube: kube, plane: plane, pools: pools,
	}, nil
}

func (t *tour) walk(ctx context.Context) error {
	steps := []struct {
		title string
		do    func(context.Context) error
	}{
		{"Pools from a ConfigMap", t.applySamples},
		{"What a field means", t.explain},
		{"A pool is added", t.addPool},
		{"A pool is scaled", t.scalePool},
		{"Bad edits are refused", t.refuseBadEdits},
		{"What Designate gets to read", t.showPoolsYAML},
	}
	for i, step := range steps {
		fmt.Fprintf(t.out, "\n== %d. %s\n", i+1, step.title)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("step %d, %q: %w", i+1, step.title, err)
		}
	}
	return nil
}

func (t *tour) applySamples(ctx context.Context) error {
	for _, args := range [][]string{
		{"create", "namespace", namespace},
		{"config", "set-context", "--current", "--namespace", namespace},
		{"apply", "-f", samples + "/"},
	} {
		if _, err := t.run(ctx, args...); err != nil {
			return err
		}
	}
	t.say("One DesignatePool for each entry of the ConfigMap, with one StatefulSet of BIND servers for each.")
	if err := t.allReady(ctx, "default", "golden", "edge"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"get", "designatepools"},
		{"get", "statefulsets"},
		{"get", "pods"},
		{"get", "services", "--selector", v1alpha1.LabelServiceRole + "=" + v1alpha1.ServiceRoleClient},
		{"get", "designatebackends"},
	} {
		if _, err := t.run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) explain(ctx context.Context) error {
	output, err := t.run(ctx, "explain", "designatepool.spec.bindReplicas")
	if err != nil {
		return err
	}
	return wants(output, "FIELD: bindReplicas", "DESCRIPTION:")
}

func (t *tour) addPool(ctx context.Context) error {
	before, err := t.statefulSets(ctx)
	if err != nil {
		return err
	}
	t.say("One more entry in the ConfigMap. It sorts before the others, and disturbs none of them.")
	t.pools.Data[v1alpha1.MultipoolConfigKey] += `- name: backup
  description: Zones that may be slow
  attributes:
    service_tier: bronze
  bindReplicas: 1
  nsRecords:
  - hostname: ns1.backup.example.org.
    priority: 1
`
	if err := t.applyEdit(ctx, "add-pool.yaml"); err != nil {
		return err
	}
	if err := t.allReady(ctx, "default", "golden", "edge", "backup"); err != nil {
		return err
	}
	if _, err := t.run(ctx, "get", "designatepools,statefulsets"); err != nil {
		return err
	}
	after, err := t.statefulSets(ctx)
	if err != nil {
		return err
	}
	if len(after) != len(before)+1 {
		return fmt.Errorf("there are %d StatefulSets, and were %d before", len(after), len(before))
	}
	for name, identity := range before {
		if after[name] != identity {
			return fmt.Errorf("StatefulSet %s was touched when another pool was added: %s before, %s after", name, identity, after[name])
		}
	}
	return nil
}

func (t *tour) scalePool(ctx context.Context) error {
	t.say("The ConfigMap is the place to edit; the pools made from it say so.")
	err := t.refused(ctx, []string{v1alpha1.MultipoolConfigMapName}, "scale", "designatepool", "golden", "--replicas", "4")
	if err != nil {
		return err
	}
	if err := t.changePools("bindReplicas: 3", "bindReplicas: 4"); err != nil {
		return err
	}
	if err := t.applyEdit(ctx, "scale-pool.yaml"); err != nil {
		return err
	}
	scaled := func(output string) error { return wants(output, "4/4") }
	if err := t.eventually(ctx, scaled, "get", "statefulsets", "--selector", v1alpha1.LabelPool+"=golden"); err != nil {
		return err
	}
	if err := t.allReady(ctx, "golden"); err != nil {
		return err
	}
	_, err = t.run(ctx, "get", "designatepool", "golden")
	return err
}

func (t *tour) refuseBadEdits(ctx context.Context) error {
	good := t.pools.DeepCopy()
	defer func() { t.pools = good }()

	t.say("A misspelt key, a priority of 0 and a number in words: each fault is named with its pool, its line and its mend.")
	t.pools = good.DeepCopy()
	err := t.changePools("bindReplicas: 4", "bindReplicas: four", "priority: 1\n", "priority: 0\n", "attributes:", "attribute:")
	if err != nil {
		return err
	}
	if err := t.writeEdit("bad-edit.yaml"); err != nil {
		return err
	}
	words := []string{"golden", "bindReplicas", "priority", `"attribute"`}
	if err := t.refused(ctx, words, "replace", "-f", editsFolder+"/bad-edit.yaml"); err != nil {
		return err
	}

	t.say("Designate needs a pool named default.")
	t.pools = good.DeepCopy()
	if err := t.changePools("- name: default\n", "- name: standard\n"); err != nil {
		return err
	}
	if err := t.writeEdit("no-default.yaml"); err != nil {
		return err
	}
	if err := t.refused(ctx, []string{"default"}, "replace", "-f", editsFolder+"/no-default.yaml"); err != nil {
		return err
	}
	return t.unchanged(ctx, good)
}

// unchanged is an error when the ConfigMap is not as it was applied last.
func (t *tour) unchanged(ctx context.Context, want *corev1.ConfigMap) error {
	var stored corev1.ConfigMap
	key := client.ObjectKey{Namespace: namespace, Name: v1alpha1.MultipoolConfigMapName}
	if err := t.kube.Get(ctx, key, &stored); err != nil {
		return err
	}
	if stored.Data[v1alpha1.MultipoolConfigKey] != want.Data[v1alpha1.MultipoolConfigKey] {
		return fmt.Errorf("ConfigMap %s was changed by an edit that was refused", stored.Name)
	}
	return nil
}

func (t *tour) showPoolsYAML(ctx context.Context) error {
	complete := func(output string) error {
		return wants(output, `"default"`, `"golden"`, `"edge"`, `"backup"`, "BIND9 Server 3")
	}
	return t.eventually(ctx, complete, "get", "configmap", v1alpha1.PoolsYAMLName,
		"--output", "jsonpath={.data."+v1alpha1.PoolsYAMLKey+"}")
}

// allReady waits until there are exactly these pools, all ready, as `kubectl wait` does for pools that exist.
func (t *tour) allReady(ctx context.Context, names ...string) error {
	err := t.until(ctx, func(ctx context.Context) error {
		for _, name := range names {
			var pool v1alpha1.DesignatePool
			if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pool); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	args := []string{"wait", "--for=condition=" + v1alpha1.ConditionReady, "--timeout=60s"}
	for _, name := range names {
		args = append(args, "designatepool/"+name)
	}
	if _, err := t.run(ctx, args...); err != nil {
		return err
	}
	for _, name := range names {
		var pool v1alpha1.DesignatePool
		if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pool); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(pool.Status.Conditions, v1alpha1.ConditionServersReady) {
			return fmt.Errorf("pool %s is Ready without being %s", name, v1alpha1.ConditionServersReady)
		}
	}
	return nil
}

// statefulSets are the StatefulSets by name, with what changes when one is replaced or its spec is edited.
func (t *tour) statefulSets(ctx context.Context) (map[string]string, error) {
	var list appsv1.StatefulSetList
	if err := t.kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	sets := map[string]string{}
	for _, set := range list.Items {
		sets[set.Name] = fmt.Sprintf("UID %s, generation %d", set.UID, set.Generation)
	}
	return sets, nil
}

// changePools replaces the first of each old text by its new one.
func (t *tour) changePools(oldnew ...string) error {
	text := t.pools.Data[v1alpha1.MultipoolConfigKey]
	for i := 0; i < len(oldnew); i += 2 {
		changed := strings.Replace(text, oldnew[i], oldnew[i+1], 1)
		if changed == text {
			return fmt.Errorf("%s no longer has %q, which this step changes", sampleFile, oldnew[i])
		}
		text = changed
	}
	t.pools.Data[v1alpha1.MultipoolConfigKey] = text
	return nil
}

// applyEdit shows what an edit of the ConfigMap changes, and applies it.
func (t *tour) applyEdit(ctx context.Context, file string) error {
	if err := t.writeEdit(file); err != nil {
		return err
	}
	if err := t.difference(ctx, editsFolder+"/"+file); err != nil {
		return err
	}
	_, err := t.run(ctx, "apply", "-f", editsFolder+"/"+file)
	return err
}

func (t *tour) writeEdit(file string) error {
	text, err := yaml.Marshal(t.pools)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.plane.Root, editsFolder, file), text, 0o600)
}

// waitForInterrupt returns when somebody ends the demo, or with an error when a program dies meanwhile.
func (t *tour) waitForInterrupt(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollInterval):
			if err := t.healthy(); err != nil {
				return err
			}
		}
	}
}
