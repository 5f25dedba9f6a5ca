package mariadb_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/service/mariadb"
)

// trusted names the variable with the address that [TestTrusted] connects to.
const trusted = "LOCKBENCH_TEST_TRUSTED"

// TestTLS checks each form of ?tls= on a server with a certificate that this process does not trust, and
// one that does.
func TestTLS(t *testing.T) {
	certificate, key := selfSigned(t)
	defer mariadb.With("--ssl-cert="+certificate, "--ssl-key="+key)()
	s := start(t)
	plain := s.Reach().(*mariadb.Access).URL(s.Endpoint())
	for query, encrypted := range map[string]bool{"": false, "?tls=skip-verify": true, "?tls=preferred": true} {
		if got := cipher(t, plain+query); (got != "") != encrypted {
			t.Errorf("%q: cipher %q, want one: %t", query, got, encrypted)
		}
	}
	if _, err := mariadb.Connect(t.Context(), plain+"?tls=true"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: error %v", err)
	}
	if runtime.GOOS != "linux" {
		return // SSL_CERT_FILE is none of its variables everywhere
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTrusted$", "-test.v")
	child.Env = append(os.Environ(), trusted+"="+plain+"?tls=true", "SSL_CERT_FILE="+certificate)
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestTrusted") {
		t.Errorf("a certificate that the system trusts: %v\n%s", err, out)
	}
}

// TestTrusted checks that a connection to the address that [TestTLS] gives it is encrypted.
func TestTrusted(t *testing.T) {
	address := os.Getenv(trusted)
	if address == "" {
		t.Skip("TestTLS runs it")
	}
	if cipher(t, address) == "" {
		t.Error("not encrypted")
	}
}

// TestNoTLS checks that a server without a certificate serves whoever prefers one, and nobody who demands one.
func TestNoTLS(t *testing.T) {
	s := start(t)
	plain := s.Reach().(*mariadb.Access).URL(s.Endpoint())
	if got := cipher(t, plain+"?tls=preferred"); got != "" {
		t.Errorf("cipher %q", got)
	}
	for _, query := range []string{"?tls=true", "?tls=skip-verify"} {
		if _, err := mariadb.Connect(t.Context(), plain+query); err == nil || !strings.Contains(err.Error(), "TLS") {
			t.Errorf("%s: error %v", query, err)
		}
	}
}

// cipher returns the cipher of a connection to the server at address, empty for none.
func cipher(t *testing.T, address string) (name string) {
	t.Helper()
	s, err := mariadb.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var status string
	if err := admin(t, s).QueryRowContext(t.Context(), "show session status like 'Ssl_cipher'").Scan(&status, &name); err != nil {
		t.Fatal(err)
	}
	return name
}

// selfSigned writes a certificate for 127.0.0.1 and its key to files that everybody may read.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, of, of, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	for dir := temp; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // the server may be another user's
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	certificate, key = filepath.Join(temp, "certificate.pem"), filepath.Join(temp, "key.pem")
	for path, block := range map[string]pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(&block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}
