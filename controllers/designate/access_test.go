package designate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// password is a clouds.yaml of one cloud, for a Keystone; more is added to the cloud.
func password(keystone, more string) string {
	return fmt.Sprintf(`
clouds:
  other: {}
  dns:
    auth:
      auth_url: %s/v3
      username: admin
      password: %s
      user_domain_name: Default
      project_name: admin
      project_domain_id: default
%s`, keystone, secret, more)
}

func backendWith(access *v1alpha1.DesignateAccess) *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "designate"},
		Spec:       v1alpha1.DesignateBackendSpec{Designate: v1alpha1.Designate{Access: access}},
	}
}

func byCredentials() *v1alpha1.DesignateBackend {
	return backendWith(&v1alpha1.DesignateAccess{
		CloudCredentialsRef: &v1alpha1.CloudCredentialsRef{SecretName: "clouds", CloudName: "dns"},
	})
}

func credentials(data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "clouds"}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

func TestWhatIsConfiguredIsReadAndChecked(t *testing.T) {
	good := password("http://keystone:5000", "")
	for name, test := range map[string]struct {
		backend *v1alpha1.DesignateBackend
		secret  *corev1.Secret
		want    Kind
		says    string
	}{
		"a fixed endpoint":      {backendWith(&v1alpha1.DesignateAccess{Endpoint: "http://api:9001"}), nil, "", ""},
		"a cloud":               {byCredentials(), credentials(map[string]string{"clouds.yaml": good}), "", ""},
		"nothing":               {backendWith(nil), nil, Unusable, "spec.designate.access"},
		"an empty access":       {backendWith(&v1alpha1.DesignateAccess{}), nil, Unusable, "spec.designate.access"},
		"no URL":                {backendWith(&v1alpha1.DesignateAccess{Endpoint: "api:9001"}), nil, Unusable, "endpoint"},
		"no Secret":             {byCredentials(), nil, Unusable, "no Secret clouds"},
		"a Secret without it":   {byCredentials(), credentials(map[string]string{"clouds": good}), Unusable, "no key clouds.yaml"},
		"a Secret with nothing": {byCredentials(), credentials(map[string]string{"clouds.yaml": ""}), Unusable, "no key clouds.yaml"},
		"no YAML":               {byCredentials(), credentials(map[string]string{"clouds.yaml": "clouds: {" + secret}), Unusable, "not YAML"},
		"another cloud": {byCredentials(), credentials(map[string]string{"clouds.yaml": strings.ReplaceAll(good, " dns:", " dnt:")}),
			Unusable, `no cloud "dns"`},
		"certificates that are none": {byCredentials(), credentials(map[string]string{"clouds.yaml": good, "cacert": secret}),
			Unusable, "cacert"},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			got, err := AccessOf(t.Context(), fake.NewClientBuilder().WithObjects(objects...).Build(), test.backend)
			if e := errorOf(t, err, test.want); e != nil && !strings.Contains(e.Error(), test.says) {
				t.Errorf("%q does not say %q", e.Error(), test.says)
			}
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				if text := fmt.Sprintf(format, got); strings.Contains(text, secret) {
					t.Errorf("%s tells a secret: %s", format, text)
				}
			}
			if text := fmt.Sprint(got.MarshalLog()); strings.Contains(text, secret) {
				t.Errorf("a log tells a secret: %s", text)
			}
		})
	}
}

func TestASecretThatCouldNotBeReadIsNotAMissingOne(t *testing.T) {
	for name, cause := range map[string]error{
		"the API server does not answer": errors.New("connection refused"),
		"the API server is overloaded":   apierrors.NewTooManyRequests("later", 1),
		"the operator may not":           apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "clouds", nil),
	} {
		t.Run(name, func(t *testing.T) {
			reader := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return cause
				},
			})
			_, err := AccessOf(t.Context(), reader, byCredentials())
			wantKind(t, err, Unreachable)
			if !errors.Is(err, cause) {
				t.Errorf("%v hides its cause", err)
			}
		})
	}
}

func TestACloudIsReadAsOpenStackMeansIt(t *testing.T) {
	type want struct {
		Identity, Region, Endpoint string
		Availability               gophercloud.Availability
		Body                       map[string]any
	}
	user := map[string]any{"name": "admin", "password": secret, "domain": map[string]any{"name": "Default"}}
	withPassword := func(scope map[string]any) map[string]any {
		auth := map[string]any{"identity": map[string]any{"methods": []any{"password"}, "password": map[string]any{"user": user}}}
		if scope != nil {
			auth["scope"] = scope
		}
		return map[string]any{"auth": auth}
	}
	credential := func(c map[string]any) map[string]any {
		return map[string]any{"auth": map[string]any{
			"identity": map[string]any{"methods": []any{"application_credential"}, "application_credential": c},
		}}
	}
	project := map[string]any{"project": map[string]any{"name": "admin", "domain": map[string]any{"id": "default"}}}
	for name, test := range map[string]struct {
		yaml string
		want want
	}{
		"a password and a project": {password("http://k:5000", ""), want{"http://k:5000/", "", "", "public", withPassword(project)}},
		"a path that looks like a version": {password("https://k/env2/v3.14", ""),
			want{"https://k/env2/v3.14/", "", "", "public", withPassword(project)}},
		"a region and an interface": {password("http://k:5000", "    region_name: west\n    interface: internal\n"),
			want{"http://k:5000/", "west", "", "internal", withPassword(project)}},
		"endpoint_type, in its old form": {password("http://k:5000", "    interface: public\n    endpoint_type: adminURL\n"),
			want{"http://k:5000/", "", "", "admin", withPassword(project)}},
		"an endpoint": {password("http://k:5000", "    dns_endpoint_override: http://d:9001/v2/\n"),
			want{"http://k:5000/", "", "http://d:9001/v2/", "public", withPassword(project)}},
		"the whole system": {`{"clouds": {"dns": {"auth_type": "v3password", "auth": {"auth_url": "http://k:5000", "username": "admin", "password": "` +
			secret + `", "user_domain_name": "Default", "system_scope": "all", "project_name": "ignored"}}}}`,
			want{"http://k:5000/", "", "", "public", withPassword(map[string]any{"system": map[string]any{"all": true}})}},
		"an application credential": {`{"clouds": {"dns": {"auth_type": "v3applicationcredential", "auth": {"auth_url": "http://k:5000",
			"application_credential_id": "an-id", "application_credential_secret": "s", "project_name": "ignored"}}}}`,
			want{"http://k:5000/", "", "", "public", credential(map[string]any{"id": "an-id", "secret": "s"})}},
		"an application credential by name, and numbers": {`{"clouds": {"dns": {"auth": {"auth_url": "http://k:5000", "user_id": 17,
			"application_credential_name": 5, "application_credential_secret": 12}}}}`,
			want{"http://k:5000/", "", "", "public", credential(map[string]any{"name": "5", "secret": "12", "user": map[string]any{"id": "17"}})}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Access{CloudsYAML: []byte(test.yaml), Cloud: "dns"}.cloud()
			wantKind(t, err, "")
			scope, err := c.auth.ToTokenV3ScopeMap()
			wantKind(t, err, "")
			body, err := c.auth.ToTokenV3CreateMap(scope)
			wantKind(t, err, "")
			diff(t, test.want, want{c.identity, c.region, c.endpoint, c.availability, normalised(t, body)})
			if !c.auth.AllowReauth {
				t.Error("an expired token would be the end")
			}
		})
	}
}

func TestACloudThatCannotBeUsedSaysWhy(t *testing.T) {
	for name, test := range map[string]struct{ yaml, says string }{
		"no auth":              {"clouds: {dns: {region_name: a}}", "no auth"},
		"an empty cloud":       {"clouds: {dns: }", "no cloud"},
		"no clouds":            {"", "no cloud"},
		"no auth_url":          {"clouds: {dns: {auth: {username: a}}}", "auth_url"},
		"a password in a URL":  {password("http://admin:"+secret+"@k:5000", ""), "auth_url"},
		"no password":          {strings.ReplaceAll(password("http://k", ""), "password: "+secret, "x: y"), "password"},
		"no domain":            {strings.ReplaceAll(password("http://k", ""), "user_domain_name", "x"), "DomainName"},
		"a file of the cloud":  {password("http://k", "    cacert: /etc/ssl/ca.pem\n"), "cacert names a file"},
		"a client certificate": {password("http://k", "    cert: /etc/ssl/c.pem\n    key: /etc/ssl/k.pem\n"), "client certificates"},
		"verify: false":        {password("http://k", "    verify: false\n"), "verify"},
		"a profile":            {password("http://k", "    profile: vexxhost\n"), "profiles"},
		"a token":              {password("http://k", "    auth_type: v3token\n"), "auth_type"},
		"a part of the system": {"clouds: {dns: {auth: {auth_url: 'http://k', system_scope: some}}}", "system_scope"},
		"an odd interface":     {password("http://k", "    interface: inner\n"), "interface"},
		"an odd endpoint":      {password("http://k", "    dns_endpoint_override: ftp://k\n"), "endpoint"},
		"no application credential": {password("http://k", "    auth_type: v3applicationcredential\n"),
			"application_credential_id"},
		"a list for a text": {"clouds: {dns: {auth: {auth_url: 'http://k', password: [" + secret + "]}}}", "not YAML of the form"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Access{CloudsYAML: []byte(test.yaml), Cloud: "dns"}.cloud()
			if e := errorOf(t, err, Unusable); !strings.Contains(e.Error(), test.says) {
				t.Errorf("%q does not say %q", e.Error(), test.says)
			}
		})
	}
}

func TestACacertInTheFileDoesNotMatterWhenTheSecretHasOne(t *testing.T) {
	access := Access{CloudsYAML: []byte(password("http://k", "    cacert: /etc/ssl/ca.pem\n")), Cloud: "dns", CACert: []byte("some")}
	_, err := access.cloud()
	wantKind(t, err, "")
}

func TestEnvironmentAndFilesOfTheProcessHaveNoSay(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "clouds.yaml")
	if err := os.WriteFile(file, []byte(password("http://wrong:1", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() (*cloud, error) {
		return Access{CloudsYAML: []byte(password("http://right:1", "")), Cloud: "dns"}.cloud()
	}
	want, err := read()
	wantKind(t, err, "")
	t.Chdir(folder)
	for _, name := range []string{"OS_CLOUD", "OS_REGION_NAME", "OS_INTERFACE", "OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME"} {
		t.Setenv(name, "wrong")
	}
	for _, name := range []string{"OS_CLIENT_CONFIG_FILE", "OS_CACERT", "OS_CERT", "OS_KEY"} {
		t.Setenv(name, file)
	}
	got, err := read()
	wantKind(t, err, "")
	diff(t, want, got, cmp.AllowUnexported(cloud{}))
}
