package servers_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/internal/servertest"
)

func TestConnectOverTLS(t *testing.T) {
	cert, key := selfSigned(t)
	port := serveTLS(t, servertest.Start(t), cert, key)

	t.Run("unknown authority", func(t *testing.T) {
		checkRefusal(t, "rediss://:"+secret+"@127.0.0.1:"+port, "signed by nobody known here", "skip_verify=true")
	})
	t.Run("without TLS", func(t *testing.T) {
		checkRefusal(t, "redis://:"+secret+"@127.0.0.1:"+port, "rediss://")
	})
	t.Run("any certificate", func(t *testing.T) {
		s, err := servers.Connect(t.Context(), "rediss://127.0.0.1:"+port+"?skip_verify=true")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Address(), "rediss://127.0.0.1:"+port; got != want {
			t.Errorf("address %q, want %q", got, want)
		}
		client := redis.NewClient(s.Options())
		defer client.Close()
		if err := client.Ping(t.Context()).Err(); err != nil {
			t.Errorf("ping: %v", err)
		}
	})
}

// serveTLS makes s listen with TLS too, or skips t if it was built without.
func serveTLS(t *testing.T, s *servers.Server, cert, key string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	client := redis.NewClient(s.Options())
	defer client.Close()
	err = client.Do(t.Context(), "CONFIG", "SET", "tls-cert-file", cert, "tls-key-file", key,
		"tls-ca-cert-file", cert, "tls-auth-clients", "no", "tls-port", port).Err()
	if err != nil {
		t.Skipf("%s takes no TLS: %v", s.Version(), err)
	}
	return port
}

// selfSigned writes a certificate for 127.0.0.1 and its key, and returns their paths.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "lockbench test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, "CERTIFICATE", cert), writePEM(t, "PRIVATE KEY", secret)
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tls.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
