package pool

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// serversOf are those of a text: a letter each, by ordinal. o: old and fine; O: old and not ready; n: new and fine; N: new and not ready; w: new,
// ready, and without all zones; -: no client is led to it.
func serversOf(text string) []rolling {
	result := make([]rolling, 0, len(text))
	for i, letter := range text {
		server := rolling{pod: string(rune('0' + i)), joined: true, ready: true, whole: true}
		switch letter {
		case 'O':
			server.ready, server.whole = false, false
		case 'n':
			server.updated = true
		case 'N':
			server.updated, server.ready, server.whole = true, false, false
		case 'w':
			server.updated, server.whole = true, false
		case '-':
			server = rolling{pod: server.pod}
		}
		result = append(result, server)
	}
	return result
}

func TestOneServerAfterTheOtherIsReplaced(t *testing.T) {
	for _, test := range []struct {
		servers   string
		partition int32
		waiting   string
	}{
		{"ooo", 2, ""},
		{"ooN", 2, "2 has been replaced and is not ready"},
		{"oow", 2, "2 has been replaced and does not answer for all zones yet"},
		{"oon", 1, ""},
		{"oNn", 1, "1 has been replaced and is not ready"},
		{"onn", 0, ""},
		{"Nnn", 0, "0 has been replaced and is not ready"},
		{"nnn", 0, ""},
		{"o", 0, ""},
		{"", 0, ""},
		// One that stands still anyway keeps the others, but is replaced itself.
		{"Ooo", 3, "0 is not ready, so 2 is not replaced"},
		{"ooO", 2, ""},
		{"OoO", 2, ""},
		{"OOO", 2, ""},
		// A change that does not start, taken back: the first one is replaced again, and no other.
		{"oO", 1, ""},
		// Nobody minds those to which no client is led.
		{"oo-", 1, ""},
		{"---", 0, ""},
		{"o-N", 2, "2 has been replaced and is not ready"},
		{"-oo", 2, ""},
		// One that was replaced before the newest change and lacks zones.
		{"won", 2, "0 does not answer for all zones yet, so 1 is not replaced"},
	} {
		partition, waiting := nextPartition(serversOf(test.servers))
		if partition != test.partition || waiting != test.waiting {
			t.Errorf("%q: partition %d, %q; want %d, %q", test.servers, partition, waiting, test.partition, test.waiting)
		}
	}
}

// At most one server to which clients are led is away at a time, whatever order things happen in.
func TestARolloutEndsWithEveryServerReplaced(t *testing.T) {
	servers := serversOf("oooo")
	for range 20 {
		partition, _ := nextPartition(servers)
		away := 0
		for i := len(servers) - 1; i >= int(partition); i-- {
			if !servers[i].updated {
				servers[i] = serversOf("N")[0]
				break
			}
		}
		for i, server := range servers {
			if !server.ready {
				away++
			}
			if server.updated && !server.ready {
				servers[i].ready = true
			} else if server.updated && !server.whole {
				servers[i].whole = true
			}
		}
		if away > 1 {
			t.Fatalf("%d servers are away: %+v", away, servers)
		}
	}
	for i, server := range servers {
		if !server.updated || !server.whole {
			t.Errorf("server %d: %+v", i, server)
		}
	}
}

func TestPartition(t *testing.T) {
	template := func(image string) *corev1ac.PodTemplateSpecApplyConfiguration {
		return corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithImage(image)))
	}
	for name, test := range map[string]struct {
		change func(s *scope)
		image  string
		want   int32
	}{
		"nothing is replaced at rest": {func(*scope) {}, "one", 2},
		"nor when the template changes, whatever went on before": {
			func(s *scope) { s.statefulSet.Status.UpdateRevision = "b" }, "two", 2,
		},
		"nor of a StatefulSet that does not exist yet": {func(s *scope) { s.statefulSet = nil }, "one", 2},
		"the last one may be once a rollout has begun": {
			func(s *scope) { s.statefulSet.Status.UpdateRevision = "b" }, "one", 1,
		},
		"the last one may be when a change is taken back that it runs": {
			func(s *scope) {
				s.pods["designate-backendbind9-pool1-1"].Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "b"}
			}, "one", 1,
		},
		"it stays as it is while the StatefulSet controller has not seen it": {
			func(s *scope) { s.statefulSet.Generation = 7; s.statefulSet.Status.UpdateRevision = "b" }, "one", 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.statefulSet.Status.CurrentRevision, s.statefulSet.Status.UpdateRevision = "a", "a"
			s.statefulSet.Status.ObservedGeneration, s.statefulSet.Generation = 1, 1
			s.statefulSet.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](9)}
			for _, pod := range s.pods {
				pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "a"}
			}
			test.change(s)
			desired := appsv1ac.StatefulSetSpec().WithReplicas(2).WithTemplate(template(test.image))
			applied := appsv1ac.StatefulSetSpec().WithReplicas(2).WithTemplate(template("one"))
			if got := s.partition(desired, applied); got != test.want {
				t.Errorf("partition %d, want %d", got, test.want)
			}
		})
	}
}

func TestWhoAnswersForAsMuchAsOthers(t *testing.T) {
	for name, test := range map[string]struct {
		found  found
		access bool
		want   bool
	}{
		"without access nobody can tell":      {found{}, false, true},
		"one that has all zones":              {found{0: {}, 1: {}}, true, true},
		"one that has not been asked":         {found{0: {}}, true, false},
		"one that lacks zones":                {found{0: {}, 1: {difference: lacking("a.example.")}}, true, false},
		"one that lacks what others lack too": {found{0: {difference: lacking("a.example.")}, 1: {difference: lacking("a.example.")}}, true, true},
		"one alone that has all zones":        {found{1: {}}, true, true},
		"one alone that lacks zones":          {found{1: {difference: lacking("a.example.")}}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked()
			if !test.access {
				s.backend.Spec.Designate.Access = nil
			}
			s.serving = test.found
			if got := s.answersForAsMuch(1, s.pods["designate-backendbind9-pool1-1"]); got != test.want {
				t.Errorf("it does: %v, want %v", got, test.want)
			}
		})
	}
}

func TestWhyServersDoNotStartIsTold(t *testing.T) {
	s := healthy()
	pod := s.pods["designate-backendbind9-pool1-1"]
	pod.Status.Conditions = nil
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "check-configuration", LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "loading\nnamed.conf:7: unknown option 'recusion'\n"},
	}}}
	want := "designate-backendbind9-pool1-1: container check-configuration ended with exit code 1: named.conf:7: unknown option 'recusion'"
	if got := s.startFailures(); !strings.Contains(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if got := s.startFailures(); got != "" {
		t.Errorf("of a server that is ready it says %q", got)
	}
}
