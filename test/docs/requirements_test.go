// Package docs checks what the documentation says of the repository.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	row       = regexp.MustCompile(`^\| ([AR]\d+) \| (.+) \| (.+) \|$`)
	reference = regexp.MustCompile("`([^`]+)`: (\"[^\"]+\"(?:, \"[^\"]+\")*)")
	quoted    = regexp.MustCompile(`"([^"]+)"`)
)

func TestEveryTestThatRequirementsNameExists(t *testing.T) {
	rows := 0
	for _, line := range lines(t, "docs/requirements.md") {
		match := row.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		rows++
		references := reference.FindAllStringSubmatch(match[3], -1)
		if len(references) == 0 {
			t.Errorf("%s names no test", match[1])
		}
		for _, ref := range references {
			content := strings.Join(lines(t, ref[1]), "\n")
			for _, name := range quoted.FindAllStringSubmatch(ref[2], -1) {
				if !strings.Contains(content, name[1]) {
					t.Errorf("%s: %s has no %q", match[1], ref[1], name[1])
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d rows were read, which cannot be all", rows)
	}
}

// Every reason that a condition may have is explained to people who operate it.
func TestEveryReasonIsExplained(t *testing.T) {
	constant := regexp.MustCompile(`^\tReason\w+ += "(\w+)"$`)
	operating := strings.Join(lines(t, "docs/operating.md"), "\n")
	reasons := 0
	for _, line := range lines(t, "api/v1alpha1/conditions.go") {
		match := constant.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		reasons++
		if fine := map[string]bool{
			"Accepted": true, "ServersReady": true, "Ready": true, "Valid": true, "Applied": true, "Written": true,
			"Reachable": true, "DefaultPoolMatches": true, "NamesDistinct": true, "AttributesHonoured": true,
			"Programmed": true, "PrimariesAnswer": true, "KeysMounted": true, "WorkersRestarted": true, "KeyRegistered": true, "Serving": true,
		}; !fine[match[1]] && !strings.Contains(operating, "`"+match[1]+"`") {
			t.Errorf("docs/operating.md does not explain the reason %s", match[1])
		}
	}
	if reasons < 20 {
		t.Errorf("%d reasons were read, which cannot be all", reasons)
	}
}

// Every link between documents leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "test/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(file) == "api.md" {
				continue // Generated.
			}
			for _, match := range link.FindAllStringSubmatch(string(content), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), match[1])); err != nil {
					t.Errorf("%s links to %s: %v", file, match[1], err)
				}
			}
		}
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(content), "\n")
}
