//go:build linux

package node

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	apiServerURL = "https://" + address + ":6443"
	// validity is how long certificates last. No cluster lives that long.
	validity = 30 * 24 * time.Hour
)

// Kubeconfig is the path, within the node, of the administrator's kubeconfig.
const Kubeconfig = pkiDir + "/admin.kubeconfig"

// identity is somebody with a certificate.
type identity struct {
	name   string
	group  string
	server bool
}

// identities are those of the programs, by the name of the file that holds their certificate.
var identities = map[string]identity{
	"kube-apiserver":                {name: "kube-apiserver", server: true},
	"kube-apiserver-kubelet-client": {name: "kube-apiserver-kubelet-client", group: "system:masters"},
	"front-proxy":                   {name: "front-proxy-client"},
	"kubelet":                       {name: "system:node:" + hostName, group: "system:nodes", server: true},
	"kube-controller-manager":       {name: "system:kube-controller-manager"},
	"kube-scheduler":                {name: "system:kube-scheduler"},
	"kube-proxy":                    {name: "system:kube-proxy"},
	"admin":                         {name: "admin", group: "system:masters"},
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// writePKI writes the certificate, the key and the kubeconfig of everybody, and the key pair of service accounts.
func writePKI() error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	for file, who := range identities {
		if err := ca.issue(file, who); err != nil {
			return err
		}
	}
	return writeServiceAccountKeys()
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate("cluster-ca", "")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if err := writeKey("ca.key", key); err != nil {
		return nil, err
	}
	ca := &authority{certificate: parsed, key: key, pem: encode("CERTIFICATE", der)}
	return ca, os.WriteFile(filepath.Join(pkiDir, "ca.crt"), ca.pem, 0o644)
}

func (a *authority) issue(file string, who identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := certificate(who.name, who.group)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if who.server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		template.DNSNames = []string{hostName, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
		template.IPAddresses = []net.IP{net.ParseIP(address), net.ParseIP(serviceIP), net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	certPEM := encode("CERTIFICATE", der)
	if err := os.WriteFile(filepath.Join(pkiDir, file+".crt"), certPEM, 0o644); err != nil {
		return err
	}
	if err := writeKey(file+".key", key); err != nil {
		return err
	}
	return a.writeKubeconfig(file)
}

func (a *authority) writeKubeconfig(file string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: apiServerURL, CertificateAuthorityData: a.pem}
	config.AuthInfos[file] = &clientcmdapi.AuthInfo{
		ClientCertificate: filepath.Join(pkiDir, file+".crt"), ClientKey: filepath.Join(pkiDir, file+".key"),
	}
	config.Contexts["cluster"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: file}
	config.CurrentContext = "cluster"
	return clientcmd.WriteToFile(*config, filepath.Join(pkiDir, file+".kubeconfig"))
}

// writeServiceAccountKeys writes the key pair that signs and checks the tokens of service accounts.
func writeServiceAccountKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(pkiDir, "service-accounts.pub"), encode("PUBLIC KEY", public), 0o644); err != nil {
		return err
	}
	return writeKey("service-accounts.key", key)
}

func certificate(name, group string) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: serialNumber(),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if group != "" {
		template.Subject.Organization = []string{group}
	}
	return template
}

func serialNumber() *big.Int {
	var random [16]byte
	_, _ = rand.Read(random[:]) // It never fails, by its documentation.
	return new(big.Int).SetBytes(random[:])
}

func writeKey(file string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(pkiDir, file), encode("PRIVATE KEY", der), 0o600)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
