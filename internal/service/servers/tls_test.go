package servers_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

func TestConnectOverTLS(t *testing.T) {
	cert, key := servertest.SelfSigned(t)
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

// TestConnectWithClientCertificates: the server demands a certificate of its own
// authority.
func TestConnectWithClientCertificates(t *testing.T) {
	server, serverKey := servertest.SelfSigned(t)
	client, clientKey := servertest.SelfSigned(t)
	other, otherKey := servertest.SelfSigned(t)
	private := servertest.Start(t)
	port := serveTLS(t, private, server, serverKey)
	admin := redis.NewClient(private.Options())
	defer admin.Close()
	if err := admin.Do(t.Context(), "CONFIG", "SET", "tls-ca-cert-file", client, "tls-auth-clients", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	base := "rediss://127.0.0.1:" + port + "/0?ca_file=" + server
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := servertest.WritePEM(t, "SOMETHING", nil)

	for _, protocols := range []string{"TLSv1.3", "TLSv1.2"} {
		if err := admin.Do(t.Context(), "CONFIG", "SET", "tls-protocols", protocols).Err(); err != nil {
			t.Fatal(err)
		}
		t.Run(protocols+" taken", func(t *testing.T) {
			s, err := servers.Connect(t.Context(), base+"&cert_file="+client+"&key_file="+clientKey)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.Address(), "rediss://127.0.0.1:"+port; got != want {
				t.Errorf("address %q, want %q", got, want)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
		t.Run(protocols+" refused", func(t *testing.T) {
			checkRefusal(t, base+"&cert_file="+other+"&key_file="+otherKey, "127.0.0.1:"+port, "it refused the client certificate", "tls-ca-cert-file")
		})
		t.Run(protocols+" demanded", func(t *testing.T) {
			checkRefusal(t, base, "127.0.0.1:"+port, "client certificate", "?cert_file=client.crt&key_file=client.key")
		})
	}
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"no such authority", "rediss://127.0.0.1?ca_file=" + none, []string{"ca_file", none, "no such file"}},
		{"no such certificate", base + "&cert_file=" + none + "&key_file=" + clientKey, []string{"cert_file", none, "no such file"}},
		{"no such key", base + "&cert_file=" + client + "&key_file=" + none, []string{"key_file", none, "no such file"}},
		{"another's key", base + "&cert_file=" + client + "&key_file=" + otherKey, []string{client, otherKey, "private key does not match public key"}},
		{"no certificate in it", "rediss://127.0.0.1?ca_file=" + empty, []string{"ca_file", empty, "no certificate in it"}},
		{"no key", base + "&cert_file=" + client, []string{"cert_file=" + client, "one without the other"}},
		{"another authority", "rediss://127.0.0.1:" + port + "?ca_file=" + other, []string{"signed by nobody known here", "ca_file"}},
		{"without TLS", "redis://127.0.0.1?ca_file=" + server, []string{"are for TLS", "rediss://"}},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.url, c.want...) })
	}
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
