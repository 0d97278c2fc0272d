package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/designate-pools/designate-pool-operator/controllers/options"
)

// settings are what the command line says.
type settings struct {
	namespaces        nameList
	operatorNamespace string
	leaderElect       bool
	metricsAddress    string
	probeAddress      string
	webhooks          webhookSettings
	controllers       options.Options
	log               zap.Options
	version           bool
}

type webhookSettings struct {
	enabled   bool
	port      int
	certDir   string
	secret    string
	service   string
	hostNames nameList
}

// parse reads the command line and refuses what does not fit together. Help that was asked for goes to output, with the
// error flag.ErrHelp.
func parse(args []string, getenv func(string) string, output io.Writer) (*settings, error) {
	s := &settings{controllers: options.Default()}
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(io.Discard)

	flags.BoolVar(&s.version, "version", false, "Print the version and exit.")
	flags.Var(&s.namespaces, "namespace",
		"Namespaces to work in, separated by commas; may be given several times. All when left out.")
	flags.StringVar(&s.operatorNamespace, "operator-namespace", getenv("POD_NAMESPACE"),
		"Namespace of the operator itself. The default is the environment variable POD_NAMESPACE.")
	flags.BoolVar(&s.leaderElect, "leader-elect", false,
		"Let one of several operators work at a time. Each serves webhooks all the time.")
	flags.StringVar(&s.metricsAddress, "metrics-bind-address", ":8443",
		"Address at which metrics are served over HTTPS to those whom the API server lets get /metrics. 0 for none.")
	flags.StringVar(&s.probeAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz. 0 for none.")
	flags.BoolVar(&s.webhooks.enabled, "enable-webhooks", true, "Serve the admission webhooks.")
	flags.IntVar(&s.webhooks.port, "webhook-port", 9443, "Port of the webhooks.")
	flags.StringVar(&s.webhooks.certDir, "webhook-cert-dir",
		filepath.Join(os.TempDir(), "designate-pool-operator-webhook"),
		"Directory of the webhooks' tls.crt and tls.key. It must be writable, unless --webhook-secret is empty.")
	flags.StringVar(&s.webhooks.secret, "webhook-secret", "designate-pool-operator-webhook",
		"Secret, in the operator's namespace, in which the operator keeps the webhooks' certificates. It must exist. "+
			"When empty, somebody else fills --webhook-cert-dir and sets the webhooks' caBundle.")
	flags.StringVar(&s.webhooks.service, "webhook-service", "designate-pool-operator-webhook",
		"Service, in the operator's namespace, that leads to the webhooks.")
	flags.Var(&s.webhooks.hostNames, "webhook-host-names",
		"Further host names that the webhooks' certificate is for, separated by commas; may be given several times.")
	config.RegisterFlags(flags)
	s.log.BindFlags(flags)
	s.controllers.Bind(flags)

	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(output, "The operator for Designate pools on Kubernetes. Flags:")
		flags.SetOutput(output)
		flags.PrintDefaults()
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; see --help", err)
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %q: everything is said with flags; see --help", flags.Arg(0))
	case s.version:
		return s, nil
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *settings) validate() error {
	faults := []error{s.controllers.Validate()}
	for _, namespace := range s.namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			faults = append(faults, fmt.Errorf("--namespace: %q is no name of a namespace", namespace))
		}
	}
	for _, name := range s.webhooks.hostNames {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			faults = append(faults, fmt.Errorf("--webhook-host-names: %q is no host name", name))
		}
	}
	if s.operatorNamespace == "" && s.leaderElect {
		faults = append(faults, errors.New("--leader-elect needs --operator-namespace, where the lease is kept"))
	}
	if s.webhooks.enabled {
		faults = append(faults, s.webhooks.validate(s.operatorNamespace))
	}
	return errors.Join(faults...)
}

func (w webhookSettings) validate(operatorNamespace string) error {
	var faults []error
	if w.port < 1 || w.port > 65535 {
		faults = append(faults, fmt.Errorf("--webhook-port must be 1 to 65535, and is %d", w.port))
	}
	if w.certDir == "" {
		faults = append(faults, errors.New("--webhook-cert-dir must not be empty"))
	}
	if w.secret != "" && operatorNamespace == "" {
		faults = append(faults, errors.New("--webhook-secret needs --operator-namespace, where the Secret is; "+
			"or leave the webhooks out with --enable-webhooks=false"))
	}
	if w.secret != "" && w.service == "" {
		faults = append(faults, errors.New("--webhook-service must not be empty, for the certificate is made for it"))
	}
	return errors.Join(faults...)
}

// nameList is a flag that holds names, each once, given separated by commas or one flag at a time.
type nameList []string

// String implements flag.Value.
func (l *nameList) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *nameList) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(*l, name) {
			*l = append(*l, name)
		}
	}
	slices.Sort(*l)
	return nil
}
