package mariadb_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// trusted names the variable with the address that [TestTrusted] connects to.
const trusted = "LOCKBENCH_TEST_TRUSTED"

// TestTLS checks each form of ?tls= on a server with a certificate that this process does not trust, and
// one that does.
func TestTLS(t *testing.T) {
	certificate, key := servertest.SelfSigned(t)
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
