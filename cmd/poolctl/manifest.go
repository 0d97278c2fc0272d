package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// standardInput is the file name that means the standard input.
const standardInput = "-"

func readFile(name string, in io.Reader) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(in)
	}
	return os.ReadFile(name) //nolint:gosec // to read the file that the user names is the purpose
}

// multipoolConfigMaps finds the ConfigMaps to judge in a file: in a manifest of one or more documents or Lists, or the
// one that a bare list of pools would be the content of. It never gives none without an error.
func multipoolConfigMaps(content []byte) ([]*corev1.ConfigMap, error) {
	if isList(content) {
		return []*corev1.ConfigMap{{Data: map[string]string{v1alpha1.MultipoolConfigKey: string(content)}}}, nil
	}
	all, err := configMapsOfManifest(content)
	if err != nil {
		return nil, err
	}
	var found []*corev1.ConfigMap
	var others []string
	for _, cm := range all {
		if cm.Name == v1alpha1.MultipoolConfigMapName {
			found = append(found, cm)
		} else {
			others = append(others, fmt.Sprintf("%q", cm.Name))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(others) > 0:
		return nil, fmt.Errorf("nothing to judge: the ConfigMap must be named %q, and here is only %s",
			v1alpha1.MultipoolConfigMapName, strings.Join(others, ", "))
	default:
		return nil, fmt.Errorf("nothing to judge: here is neither a ConfigMap named %q nor a list of pools",
			v1alpha1.MultipoolConfigMapName)
	}
}

// isList tells a list of pools from a manifest, which is a mapping. An empty file counts as an empty list. It goes by
// the first line that counts, since the rest may be faulty YAML, which the parser explains better.
func isList(content []byte) bool {
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "%") || strings.HasPrefix(line, "---") {
			continue
		}
		return strings.HasPrefix(line, "-") || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "&")
	}
	return true
}

func configMapsOfManifest(content []byte) ([]*corev1.ConfigMap, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var all []*corev1.ConfigMap
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		found, err := configMapsOfDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		all = append(all, found...)
	}
}

// configMapsOfDocument is strict about ConfigMaps and Lists, and passes over objects of other kinds.
func configMapsOfDocument(document []byte) ([]*corev1.ConfigMap, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, fmt.Errorf("not a Kubernetes manifest: %w", err)
	}
	switch {
	case kind.APIVersion == "v1" && kind.Kind == "ConfigMap":
		cm := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(document, cm); err != nil {
			return nil, fmt.Errorf("not a valid ConfigMap: %w", err)
		}
		return []*corev1.ConfigMap{cm}, nil
	case kind.APIVersion == "v1" && (kind.Kind == "List" || kind.Kind == "ConfigMapList"):
		return configMapsOfList(document)
	default:
		return nil, nil
	}
}

func configMapsOfList(document []byte) ([]*corev1.ConfigMap, error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ListMeta   `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := yaml.UnmarshalStrict(document, &list); err != nil {
		return nil, fmt.Errorf("not a valid List: %w", err)
	}
	var all []*corev1.ConfigMap
	for i, item := range list.Items {
		found, err := configMapsOfDocument(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		all = append(all, found...)
	}
	return all, nil
}
