package servers

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// forms is the hint for an invalid address.
const forms = "hint: write redis://user:password@host:port/db, rediss://... for TLS, unix:///path/to/socket, redis://sentinel:26379?master_name=mymaster for Sentinel, or redis://node:6379?addr=node2:6379 for Cluster"

// hostAndPort matches a host and a port alone.
var hostAndPort = regexp.MustCompile(`^[A-Za-z0-9.-]+:[0-9]+$`)

// parseURL is redis.ParseURL with additional parameters, and with errors that hint and never
// repeat a password.
func parseURL(rawURL string) (*redis.Options, ownOptions, error) {
	scheme, rest, found := strings.Cut(rawURL, "://")
	switch {
	case !found && hostAndPort.MatchString(rawURL): // it has no place for a password
		return nil, ownOptions{}, fmt.Errorf("server address %s has no scheme; hint: write redis://%[1]s", rawURL)
	case !found:
		return nil, ownOptions{}, fmt.Errorf("server address has no scheme; %s", forms)
	case strings.Contains(hostOf(rest), ","):
		return nil, ownOptions{}, fmt.Errorf("server address %s://... has several hosts; hint: name the others by addr, as in redis://host:6379?addr=host2:6379 for Cluster, redis://host:26379?master_name=mymaster&addr=host2:26379 for Sentinel", scheme)
	case scheme != "redis" && scheme != "rediss" && scheme != "unix":
		return nil, ownOptions{}, fmt.Errorf("server address has scheme %q; %s", scheme, forms)
	}
	plain, p := ownParameters(rawURL)
	opt, err := redis.ParseURL(plain)
	if err == nil {
		if err := p.apply(opt); err != nil {
			return nil, p, fmt.Errorf("server address %s: %w", addressOf(opt), err)
		}
		return opt, p, nil
	}
	if strings.Contains(rest, "@") { // the error may quote any part of a password
		return nil, p, fmt.Errorf("server address %s://...@%s cannot be parsed; hint: escape special characters of user and password as %%XX", scheme, shown(rest))
	}
	var detail *url.Error
	switch isURL := errors.As(err, &detail); {
	case isURL && shown(rest) == hidden: // it quotes the text in place of a port
		err = errors.New("invalid port")
	case isURL:
		err = detail.Err
	}
	return nil, p, fmt.Errorf("server address %s://%s cannot be parsed: %w; %s", scheme, shown(rest), err, forms)
}

// ownOptions are the parameters of an address beyond the client library's.
type ownOptions struct {
	caFile, certFile, keyFile string
	// others are further addresses, of sentinels or of nodes of a cluster.
	others []string
	// master is the sentinels' name for the primary; empty without Sentinel.
	master                             string
	sentinelUsername, sentinelPassword string
	// username and password are for the server if the user and password of the URL are for the
	// sentinels, as in the client library's ParseFailoverURL.
	username, password string
}

// ownParameters removes our parameters from an address. It returns an invalid address unchanged.
func ownParameters(rawURL string) (plain string, p ownOptions) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL, p
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return rawURL, p
	}
	mine := map[string]*string{"ca_file": &p.caFile, "cert_file": &p.certFile, "key_file": &p.keyFile}
	p.others = query["addr"]
	query.Del("addr")
	if query.Has("master_name") {
		mine["master_name"] = &p.master
		mine["sentinel_username"], mine["sentinel_password"] = &p.sentinelUsername, &p.sentinelPassword
		mine["username"], mine["password"] = &p.username, &p.password
	}
	for name, value := range mine {
		*value = query.Get(name)
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	return u.String(), p
}

// apply applies the parameters to opt.
func (p *ownOptions) apply(opt *redis.Options) error {
	if p.username+p.password != "" {
		if p.sentinelUsername+p.sentinelPassword == "" {
			p.sentinelUsername, p.sentinelPassword = opt.Username, opt.Password
		}
		opt.Username, opt.Password = p.username, p.password
	}
	for _, addr := range p.others {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return fmt.Errorf("addr %.80q is no host:port; hint: write addr=host2:26379", addr)
		}
	}
	if (p.master != "" || len(p.others) > 0) && opt.Network == "unix" {
		return errors.New("master_name and addr are for redis:// and rediss://; hint: write redis://host:26379?master_name=mymaster for Sentinel, redis://host:6379?addr=host2:6379 for Cluster")
	}
	return p.certify(opt)
}

// hidden replaces text that may be part of a password.
const hidden = "..."

// shown is the part of a URL's host that errors may show, if the URL cannot be parsed: without the
// query, and [hidden] if host and port may be part of a password, as in user:password without an
// @, or ?password=a@b.
func shown(rest string) string {
	host := hostOf(rest)
	_, port, _ := strings.Cut(host, ":")
	query := strings.IndexAny(rest, "?#")
	if query >= 0 && query < strings.LastIndex(rest, "@") || strings.Trim(port, "0123456789") != "" {
		return hidden
	}
	return host
}

// hostOf returns the host and port of a URL given without its scheme.
func hostOf(rest string) string {
	rest = rest[strings.LastIndex(rest, "@")+1:]
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return host
}
