package docs

import (
	"os/exec"
	"strings"
	"testing"
)

// R35.
func TestNoTestDoubleIsReachableFromWhatIsShipped(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/...")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(output))
	ours := 0
	for _, name := range packages {
		if strings.Contains(name, "designate-pool-operator/controllers") {
			ours++
		}
		// What other modules bring along for their own tests is not ours to reach.
		if strings.Contains(name, "designate-pool-operator/test/") || name == "testing" || strings.Contains(name, "/ginkgo") ||
			strings.Contains(name, "/gomega") || strings.HasSuffix(name, "/envtest") || strings.HasSuffix(name, "/client/fake") {
			t.Errorf("%s is part of what is shipped", name)
		}
	}
	if ours < 15 {
		t.Errorf("%d packages of controllers are part of it, which cannot be all", ours)
	}
}
