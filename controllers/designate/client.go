package designate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// The operations, as errors and metrics name them.
const (
	opConfigure     = "read the configuration"
	opAuthenticate  = "authenticate"
	opListZones     = "list zones"
	opListPools     = "list pools"
	opDeletePool    = "delete pool"
	opListTSIGKeys  = "list TSIG keys"
	opCreateTSIGKey = "create TSIG key"
	opDeleteTSIGKey = "delete TSIG key"
)

// serviceType is Designate's in Keystone's catalogue.
const serviceType = "dns"

// allProjects asks for all projects, in a query; each request asks in a header as well. Without it, zones and pools of others
// are not listed, and a pool that another project has made is "not found". A proxy may drop either, hardly both.
const allProjects = "all_projects"

// userAgent goes before gophercloud's own; without Keystone it is also who the requests are from.
const userAgent = "designate-pool-operator"

// Client speaks with one Designate. It may be used by several goroutines at once. No request is made twice, except that
// one whose token is refused gets a new token, once.
type Client struct {
	service *gophercloud.ServiceClient
	limits  Limits
	// refused says that the credentials, or what their token allows, have been. A role that is granted later counts for a new
	// token alone.
	refused atomic.Bool
	closing func()
}

// Connect gets a token from Keystone, and from its catalogue where Designate is. With a fixed endpoint it makes no request.
// The error is Unusable when what is configured cannot be right.
func Connect(ctx context.Context, access Access, limits Limits) (*Client, error) {
	roots, err := access.roots()
	if err != nil {
		return nil, err
	}
	transport := newTransport(roots)
	c, err := connect(ctx, access, limits.withDefaults(), transport)
	if err != nil {
		transport.CloseIdleConnections()
		return nil, err
	}
	c.closing = transport.CloseIdleConnections
	return c, nil
}

// connect is Connect through any transport.
func connect(ctx context.Context, access Access, limits Limits, transport http.RoundTripper) (*Client, error) {
	provider := &gophercloud.ProviderClient{HTTPClient: answers.Client(transport, limits.ofAnswers())}
	provider.UserAgent.Prepend(userAgent)
	provider.UseTokenLock()
	service := &gophercloud.ServiceClient{
		ProviderClient: provider, Type: serviceType, MoreHeaders: map[string]string{"X-Auth-All-Projects": "true"},
	}
	var err error
	if access.Endpoint != "" {
		maps.Copy(service.MoreHeaders, map[string]string{"X-Roles": "admin", "X-Auth-User-ID": userAgent, "X-Auth-Project-ID": userAgent})
		service.Endpoint, err = apiURL(access.Endpoint)
	} else {
		service.Endpoint, err = authenticate(ctx, access, provider)
	}
	if err != nil {
		return nil, err
	}
	return &Client{service: service, limits: limits}, nil
}

// authenticate gets a token, and the URL of the API.
func authenticate(ctx context.Context, access Access, provider *gophercloud.ProviderClient) (string, error) {
	cloud, err := access.cloud()
	if err != nil {
		return "", err
	}
	// The version is known, so no answer gets to say where the password is sent.
	provider.IdentityBase = cloud.identity
	provider.IdentityEndpoint = cloud.identity + "v3/"
	err = measured(opAuthenticate, func() error {
		return failure(ctx, opAuthenticate, openstack.AuthenticateV3(ctx, provider, &cloud.auth, gophercloud.EndpointOpts{}))
	})
	if err != nil {
		return "", err
	}
	again := provider.ReauthFunc
	provider.ReauthFunc = func(ctx context.Context) error {
		var cause error
		_ = measured(opAuthenticate, func() error {
			cause = again(ctx)
			return failure(ctx, opAuthenticate, cause)
		})
		return cause
	}
	if cloud.endpoint != "" {
		return cloud.endpoint, nil
	}
	result, ok := provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return "", &Error{Kind: Malformed, Operation: opAuthenticate, Detail: "the answer has no catalogue"}
	}
	catalogue, err := result.ExtractServiceCatalog()
	if err != nil {
		return "", failure(ctx, opAuthenticate, err)
	}
	return cloud.locate(catalogue)
}

// locate finds the one endpoint that is meant. gophercloud takes the first that fits; of two Designates that could be the
// one that has none of our zones.
func (c *cloud) locate(catalogue *tokens.ServiceCatalog) (string, error) {
	found := ""
	for _, entry := range catalogue.Entries {
		for _, endpoint := range entry.Endpoints {
			if entry.Type != serviceType || endpoint.Interface != string(c.availability) ||
				c.region != "" && endpoint.Region != c.region && endpoint.RegionID != c.region {
				continue
			}
			if found != "" && found != endpoint.URL {
				return "", unusable(opAuthenticate,
					"Keystone's catalogue has several %s endpoints of type %s: set region_name in clouds.yaml", c.availability, serviceType)
			}
			found = endpoint.URL
		}
	}
	if found == "" {
		where := "any region"
		if c.region != "" {
			where = fmt.Sprintf("region %q", c.region)
		}
		return "", unusable(opAuthenticate, "Keystone's catalogue has no %s endpoint of type %s in %s: look at the scope, region_name and "+
			"interface in clouds.yaml", c.availability, serviceType, where)
	}
	return apiURL(found)
}

// Close lets go of connections that are not in use. The client can be used after it.
func (c *Client) Close() {
	if c.closing != nil {
		c.closing()
	}
}

// request makes one request. read gets the body of an answer with the status that is expected, and closes nothing.
func (c *Client) request(
	ctx context.Context, operation, method, path string, options gophercloud.RequestOpts, read func(io.Reader) error,
) error {
	options.KeepResponseBody = true
	err := measured(operation, func() error {
		response, err := c.service.Request(ctx, method, c.service.Endpoint+path, &options)
		if err != nil {
			return failure(ctx, operation, err)
		}
		defer response.Body.Close()
		return failure(ctx, operation, read(response.Body))
	})
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == Unauthorised {
		c.refused.Store(true)
	}
	return err
}

// remove deletes one record by its id.
func (c *Client) remove(ctx context.Context, operation, collection, id string) error {
	if id == "" {
		return &Error{Kind: Refused, Operation: operation, Detail: "no id"}
	}
	return c.request(ctx, operation, http.MethodDelete, collection+"/"+url.PathEscape(id)+"?"+allProjects+"=true",
		gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}}, drain)
}

// drain reads to the end, so that the connection can be used again.
func drain(body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	return err
}
