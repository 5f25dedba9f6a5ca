package machines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

// TestUsersServer checks runs by way of a NATS server of the user's with the least rights, that a second run with
// the same token is refused, and that no password is printed in an error.
func TestUsersServer(t *testing.T) {
	below := &server.SubjectPermission{Allow: []string{"lockbench.>", "_INBOX.>"}}
	as := servicetest.NATS(t, server.Options{Users: []*server.User{
		{Username: "u", Password: "p", Permissions: &server.Permissions{Publish: below, Subscribe: below}},
		{Username: "guest", Password: "p", Permissions: &server.Permissions{Subscribe: below, Publish: &server.SubjectPermission{Deny: []string{">"}}}},
	}})
	address := as("u")
	p := planOf(t, counted(80))
	config := Config{URL: address, Token: "t", Servers: p.Servers, Say: func(string, ...any) {}}
	if r := gather(t, 2, config).run(t, p, nil); r.Runs[0].Err != nil || r.Runs[0].Verdicts.Grants != 80 {
		t.Errorf("%d grants, error %v", r.Runs[0].Verdicts.Grants, r.Runs[0].Err)
	}
	config.Machines = 1
	_, err := Open(t.Context(), config)
	if err == nil || !strings.Contains(err.Error(), "another run with this token is there") || strings.Contains(err.Error(), "u:p") {
		t.Errorf("a second run: %v", err)
	}
	config.URL = as("guest")
	if _, err = Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "may this user publish and subscribe below lockbench.") {
		t.Errorf("a user who may publish nothing: %v", err)
	}
	config.URL = strings.Replace(address, ":p@", ":wrong@", 1)
	if _, err = Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), "Authorization Violation") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestTLS checks that agents connect by TLS to a coordinator whose certificate they trust, and to no other.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, certificate, key)
	p := planOf(t, counted(80))
	c := gather(t, 1, Config{Listen: "127.0.0.1:0", Certificate: certificate, Key: key, Servers: p.Servers})
	if r := c.run(t, p, nil); r.Runs[0].Err != nil || r.Runs[0].Verdicts.Grants != 80 {
		t.Errorf("%d grants, error %v", r.Runs[0].Verdicts.Grants, r.Runs[0].Err)
	}
	trusting := c.agents[0]
	for authority, want := range map[string]string{"": "failed to verify certificate", key: "no certificates can be read"} {
		a := &Agent{URL: trusting.URL, Token: trusting.Token, Authority: authority, History: dir, Say: func(string, ...any) {}}
		if err := a.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("authority %q: %v, want %q", authority, err, want)
		}
	}
	if _, err := Open(t.Context(), Config{Machines: 1, Listen: "127.0.0.1:0", Certificate: certificate, Key: certificate, Say: func(string, ...any) {}}); err == nil || !strings.Contains(err.Error(), "files in PEM that belong together") {
		t.Errorf("a certificate as its key: %v", err)
	}
}

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	its := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := x509.CreateCertificate(rand.Reader, its, its, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
