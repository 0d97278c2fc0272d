package designate

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"sigs.k8s.io/yaml"
)

// cloudsFile is what counts here of OpenStack's clouds.yaml. gophercloud's own parser is not used: it goes by environment
// variables and by files of the process.
type cloudsFile struct {
	Clouds map[string]*cloudEntry `json:"clouds"`
}

type cloudEntry struct {
	Auth         *cloudAuth `json:"auth"`
	AuthType     string     `json:"auth_type"`
	RegionName   string     `json:"region_name"`
	Interface    string     `json:"interface"`
	EndpointType string     `json:"endpoint_type"`
	// DNSEndpoint is where the API is, whatever the catalogue says.
	DNSEndpoint string `json:"dns_endpoint_override"`

	// What cannot be honoured.
	Verify  *bool  `json:"verify"`
	CACert  string `json:"cacert"`
	Cert    string `json:"cert"`
	Key     string `json:"key"`
	Profile string `json:"profile"`
	Cloud   string `json:"cloud"`
}

type cloudAuth struct {
	AuthURL  string `json:"auth_url"`
	Username string `json:"username"`
	UserID   string `json:"user_id"`
	Password string `json:"password"`

	ApplicationCredentialID     string `json:"application_credential_id"`
	ApplicationCredentialName   string `json:"application_credential_name"`
	ApplicationCredentialSecret string `json:"application_credential_secret"`

	SystemScope string `json:"system_scope"`
	ProjectID   string `json:"project_id"`
	ProjectName string `json:"project_name"`

	UserDomainID      string `json:"user_domain_id"`
	UserDomainName    string `json:"user_domain_name"`
	ProjectDomainID   string `json:"project_domain_id"`
	ProjectDomainName string `json:"project_domain_name"`
	DomainID          string `json:"domain_id"`
	DomainName        string `json:"domain_name"`
	DefaultDomain     string `json:"default_domain"`
}

// cloud is one cloud, ready to be connected to.
type cloud struct {
	auth gophercloud.AuthOptions
	// identity is the URL of Keystone without the version, with a slash at the end.
	identity string
	region   string
	// availability is which of Designate's endpoints in the catalogue is meant.
	availability gophercloud.Availability
	// endpoint is that of Designate, when it is not to be taken from the catalogue.
	endpoint string
}

// The values of auth_type that are understood. Others cannot be renewed, or ask a person.
const (
	authPassword              = "password"
	authV3Password            = "v3password"
	authApplicationCredential = "v3applicationcredential"
)

var availabilities = []gophercloud.Availability{
	gophercloud.AvailabilityPublic, gophercloud.AvailabilityInternal, gophercloud.AvailabilityAdmin,
}

// cloud finds and checks the cloud that is meant. What the file says never gets into the error, for it may be a password.
func (a Access) cloud() (*cloud, error) {
	var file cloudsFile
	if err := yaml.Unmarshal(a.CloudsYAML, &file); err != nil {
		return nil, unusable(opConfigure, "clouds.yaml is not YAML of the form that it should have")
	}
	entry := file.Clouds[a.Cloud]
	switch {
	case entry == nil:
		return nil, unusable(opConfigure, "clouds.yaml has no cloud %q", a.Cloud)
	case entry.Auth == nil:
		return nil, unusable(opConfigure, "cloud %q has no auth", a.Cloud)
	}
	if reason := entry.unsupported(len(a.CACert) > 0); reason != "" {
		return nil, unusable(opConfigure, "cloud %q: %s", a.Cloud, reason)
	}
	c := &cloud{region: entry.RegionName}
	var err error
	if c.identity, err = versionless(entry.Auth.AuthURL, "/v3"); err != nil {
		return nil, unusable(opConfigure, "cloud %q: auth_url must be an http or https URL without user, query and fragment", a.Cloud)
	}
	c.availability = gophercloud.Availability(strings.TrimSuffix(cmp.Or(entry.EndpointType, entry.Interface, "public"), "URL"))
	if !slices.Contains(availabilities, c.availability) {
		return nil, unusable(opConfigure, "cloud %q: interface must be public, internal or admin", a.Cloud)
	}
	if entry.DNSEndpoint != "" {
		if c.endpoint, err = apiURL(entry.DNSEndpoint); err != nil {
			return nil, err
		}
	}
	if c.auth, err = entry.options(); err != nil {
		return nil, unusable(opConfigure, "cloud %q: %v", a.Cloud, err)
	}
	c.auth.IdentityEndpoint = c.identity
	return c, nil
}

// unsupported says what of an entry would have to be ignored, which nobody would notice. A path means nothing here: the
// file was written where it leads somewhere.
func (e *cloudEntry) unsupported(certificates bool) string {
	switch {
	case e.Profile != "" || e.Cloud != "":
		return "profiles are in another file; write out what this one stands for"
	case e.CACert != "" && !certificates:
		return "cacert names a file, and files are not read; put its content into the key cacert of the Secret"
	case e.Cert != "" || e.Key != "":
		return "client certificates (cert, key) are not supported"
	case e.Verify != nil && !*e.Verify:
		return "verify: false is not supported; put the certificates to check against into the key cacert of the Secret"
	case !slices.Contains([]string{"", authPassword, authV3Password, authApplicationCredential}, e.AuthType):
		return "auth_type must be password, v3password or v3applicationcredential"
	case e.Auth.SystemScope != "" && e.Auth.SystemScope != "all":
		return "system_scope must be all"
	}
	return ""
}

// options are how to authenticate; the error says what is missing.
func (e *cloudEntry) options() (gophercloud.AuthOptions, error) {
	auth := e.Auth
	options := gophercloud.AuthOptions{AllowReauth: true, Username: auth.Username, UserID: auth.UserID}
	if auth.UserID != "" {
		options.Username = ""
	} else if auth.Username != "" {
		options.DomainID, options.DomainName = domain(auth.UserDomainID, auth.UserDomainName, auth)
	}
	named := auth.ApplicationCredentialID != "" || auth.ApplicationCredentialName != ""
	if e.AuthType == authApplicationCredential || e.AuthType == "" && named {
		options.ApplicationCredentialID = auth.ApplicationCredentialID
		options.ApplicationCredentialName = auth.ApplicationCredentialName
		options.ApplicationCredentialSecret = auth.ApplicationCredentialSecret
		if !named {
			return options, gophercloud.ErrMissingInput{Argument: "application_credential_id"}
		}
	} else {
		options.Password = auth.Password
		options.Scope = auth.scope()
	}
	scope, err := options.ToTokenV3ScopeMap()
	if err == nil {
		_, err = options.ToTokenV3CreateMap(scope)
	}
	return options, err
}

// scope is what the token is to be for: the whole system, or one project.
func (a *cloudAuth) scope() *gophercloud.AuthScope {
	switch {
	case a.SystemScope != "":
		return &gophercloud.AuthScope{System: true}
	case a.ProjectID != "":
		return &gophercloud.AuthScope{ProjectID: a.ProjectID}
	case a.ProjectName != "":
		id, name := domain(a.ProjectDomainID, a.ProjectDomainName, a)
		return &gophercloud.AuthScope{ProjectName: a.ProjectName, DomainID: id, DomainName: name}
	}
	return nil
}

// domain is the id or the name of a domain, of which Keystone takes one alone.
func domain(ownID, ownName string, auth *cloudAuth) (id, name string) {
	switch {
	case ownID != "":
		return ownID, ""
	case ownName != "":
		return "", ownName
	case auth.DomainID != "":
		return auth.DomainID, ""
	case auth.DomainName != "":
		return "", auth.DomainName
	}
	return auth.DefaultDomain, ""
}

// apiURL is the URL of version 2 of the API at an endpoint, with a slash at the end.
func apiURL(endpoint string) (string, error) {
	base, err := versionless(endpoint, "/v2")
	if err != nil {
		return "", unusable(opConfigure, "the endpoint must be an http or https URL without user, query and fragment")
	}
	return base + "v2/", nil
}

// versionless checks a URL and takes a version off its end.
func versionless(raw, version string) (string, error) {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", &url.Error{Op: "parse", URL: parsed.Redacted(), Err: url.InvalidHostError(parsed.Host)}
	}
	return strings.TrimSuffix(strings.TrimRight(parsed.String(), "/"), version) + "/", nil
}
