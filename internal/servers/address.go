package servers

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// parseURL is redis.ParseURL with parameters of our own, and with errors that help and do not
// repeat a password.
func parseURL(rawURL string) (*redis.Options, error) {
	const forms = "hint: write redis://user:password@host:port/db, rediss://... for TLS or unix:///path/to/socket"
	scheme, rest, found := strings.Cut(rawURL, "://")
	switch {
	case !found:
		return nil, fmt.Errorf("server address has no scheme; %s", forms)
	case strings.Contains(scheme, "sentinel"), strings.Contains(scheme, "cluster"), strings.Contains(hostOf(rest), ","):
		return nil, fmt.Errorf("server address %s://...: Cluster and Sentinel are not supported; hint: name one primary that is no part of a cluster", scheme)
	case scheme != "redis" && scheme != "rediss" && scheme != "unix":
		return nil, fmt.Errorf("server address has scheme %q; %s", scheme, forms)
	}
	plain, own := ownParameters(rawURL)
	opt, err := redis.ParseURL(plain)
	if err == nil {
		if err := own.certify(opt); err != nil {
			return nil, fmt.Errorf("server address %s: %w", addressOf(opt), err)
		}
		return opt, nil
	}
	if strings.Contains(rest, "@") { // the error may quote any part of a password
		return nil, fmt.Errorf("server address %s://...@%s cannot be parsed; hint: escape special characters of user and password as %%XX", scheme, shown(rest))
	}
	var detail *url.Error
	switch isURL := errors.As(err, &detail); {
	case isURL && shown(rest) == hidden: // it quotes what stands in place of a port
		err = errors.New("invalid port")
	case isURL:
		err = detail.Err
	}
	return nil, fmt.Errorf("server address %s://%s cannot be parsed: %w; %s", scheme, shown(rest), err, forms)
}

// own are the parameters of an address that the client library does not know.
type own struct {
	caFile, certFile, keyFile string
}

// ownParameters takes them out of an address. One that cannot be parsed is returned as it is.
func ownParameters(rawURL string) (plain string, p own) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL, p
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return rawURL, p
	}
	for name, value := range map[string]*string{"ca_file": &p.caFile, "cert_file": &p.certFile, "key_file": &p.keyFile} {
		*value = query.Get(name)
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	return u.String(), p
}

// hidden stands for what may be part of a password.
const hidden = "..."

// shown is what an error says of the host of a URL that cannot be parsed: nothing of its
// query, and [hidden] where host and port may be part of a password, as in user:password
// without an @, or ?password=a@b.
func shown(rest string) string {
	host := hostOf(rest)
	_, port, _ := strings.Cut(host, ":")
	query := strings.IndexAny(rest, "?#")
	if query >= 0 && query < strings.LastIndex(rest, "@") || strings.Trim(port, "0123456789") != "" {
		return hidden
	}
	return host
}

// hostOf returns what stands for host and port in a URL after its scheme.
func hostOf(rest string) string {
	rest = rest[strings.LastIndex(rest, "@")+1:]
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return host
}
