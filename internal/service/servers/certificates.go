package servers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// certify makes opt use the certificates that an address names. Its errors name the file.
func (p ownOptions) certify(opt *redis.Options) error {
	if p.caFile+p.certFile+p.keyFile == "" {
		return nil
	}
	if opt.TLSConfig == nil {
		return errors.New("ca_file, cert_file and key_file are for TLS; hint: write rediss://host:port")
	}
	if (p.certFile == "") != (p.keyFile == "") {
		return fmt.Errorf("cert_file=%s&key_file=%s: one without the other; hint: give both, or neither", p.certFile, p.keyFile)
	}
	if p.caFile != "" {
		text, err := readPEM("ca_file", p.caFile)
		if err != nil {
			return err
		}
		opt.TLSConfig.RootCAs = x509.NewCertPool()
		if !opt.TLSConfig.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("ca_file %s: no certificate in it; hint: it is to have the certificate of the authority, as PEM", p.caFile)
		}
	}
	if p.certFile == "" {
		return nil
	}
	cert, err := readPEM("cert_file", p.certFile)
	if err != nil {
		return err
	}
	key, err := readPEM("key_file", p.keyFile)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("cert_file %s and key_file %s: %w; hint: they are to be a certificate and its own key without a password, as PEM", p.certFile, p.keyFile, err)
	}
	opt.TLSConfig.Certificates = []tls.Certificate{pair}
	return nil
}

// readPEM reads the file named by a parameter of an address.
func readPEM(parameter, path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; hint: check its path, and that you may read it", parameter, err)
	}
	return text, nil
}

// refusedTLS returns the server's alert that ended TLS, nil if there was none. In TLS 1.3 a server
// checks a client's certificate after the client has completed its handshake, so the result shows
// only at the next read.
func refusedTLS(conn net.Conn) error {
	if _, is := conn.(*tls.Conn); !is {
		return nil
	}
	_, _ = io.WriteString(conn, "PING\r\n") // if it fails, the read returns the reason
	_, err := conn.Read(make([]byte, 1))
	if alertOf(err) == "" {
		return nil
	}
	return err
}

// alertOf is the text of the server's alert that ended TLS, empty if there was none.
func alertOf(err error) string {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return ""
	}
	return op.Err.Error()
}

// isAlert returns a condition for errors that are an alert of the server with one of these texts,
// or any alert if none is given.
func isAlert(what ...string) func(error) bool {
	return func(err error) bool {
		said := alertOf(err)
		for _, w := range what {
			if strings.Contains(said, w) {
				return true
			}
		}
		return said != "" && len(what) == 0
	}
}
