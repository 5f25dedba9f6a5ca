package servers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// explain adds the address, a reason and a hint to an error of s.
func explain(ctx context.Context, s *Server, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("server %s: %w", s.address, ctx.Err())
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w (%w)", err, ctx.Err())
	}
	d := diagnose(err)
	return fmt.Errorf("server %s: %s: %w; hint: %s", s.address, d.reason, s.redact(err), d.hint)
}

// diagnose returns the first diagnosis that fits err, or a general one.
func diagnose(err error) diagnosis {
	for _, d := range diagnoses {
		if d.of(err) {
			return d
		}
	}
	return diagnosis{reason: "not fit for a run", hint: "is it a Redis, and is this its address?"}
}

// A diagnosis is one reason why a server is unfit for a run.
type diagnosis struct {
	of           func(error) bool
	reason, hint string
}

// namesCertificate is the hint to a client without a certificate.
const namesCertificate = "name one in the address: ?cert_file=client.crt&key_file=client.key"

// diagnoses are tried in this order.
var diagnoses = []diagnosis{
	{isError(errSentinelLogin), "the user or password of the Sentinel is wrong or lacking",
		"give them in the address, as sentinel_username=NAME&sentinel_password=PASSWORD, or leave them out if it has none"},
	{replyOf("WRONGPASS", "ERR invalid password", "ERR AUTH"), "user or password is wrong",
		"give them in the address, redis://user:password@host:port, or leave both out if the server has none"},
	{replyOf("NOAUTH"), "it asks for a password", "give it in the address, redis://:password@host:port"},
	{replyOf("NOPERM"), "this user lacks a permission", "allow it the keys lockbench:* and the commands of locks, as in ACL SETUSER name ~lockbench:* +@all"},
	{replyOf("LOADING"), "it is still loading its data", "try again when it has started"},
	{replyOf("READONLY"), "it takes no writes", "name the primary"},
	{isError(errReplica), "a lock on it would be lost", "name the primary"},
	{replyOf("MASTERDOWN"), "it is a replica that lost its primary", "name the primary"},
	{replyOf("MISCONF"), "it takes no writes because it cannot save them", "look at its disk and its log"},
	{replyOf("OOM"), "it takes no writes because its memory is full", "raise maxmemory or use another server"},
	{replyOf("NOREPLICAS"), "it takes no writes without its replicas", "look at its replicas"},
	{replyOf("DENIED"), "protected mode", "give it a password, or connect from the machine it runs on"},
	{replyOf("ERR max number of clients"), "it has no room for another client", "raise its maxclients"},
	{isError(errClusterDown), "its slots are not all served", "look at redis-cli --cluster check"},
	{replyOf("CLUSTERDOWN"), "it is part of a Redis Cluster that is down", "look at CLUSTER INFO, and at redis-cli --cluster check"},
	{isError(errNotCluster), "it has an addr beside it, and is no cluster", "leave addr out, or add master_name=NAME if these are sentinels"},
	{isError(errCluster), "a cluster is reached by TCP", "write redis://host:port of one of its nodes"},
	{isError(errSentinel), "it is not a server that takes locks", "add ?master_name= with the name of what it watches to the address"},
	{replyOf("ERR SELECT is not allowed in cluster"), "a Redis Cluster has database 0 alone", "leave the number out of the address"},
	{replyOf("ERR DB index", "ERR invalid DB"), "it has no such database", "leave the number out of the address"},
	{isError(errNotRedis), "this is no Redis", "is it the right port?"},
	{func(err error) bool {
		return strings.Contains(err.Error(), "redis: can't parse") || strings.Contains(err.Error(), "redis: invalid")
	},
		"what answers is not a Redis", "is it the right port? A server that speaks TLS wants rediss://"},
	{func(err error) bool { return asError[tls.RecordHeaderError](err) || errors.Is(err, errPlain) }, "it does not speak TLS", "write redis:// instead of rediss://"},
	{asError[x509.UnknownAuthorityError], "its certificate is signed by nobody known here", "name the authority by ca_file=ca.pem in the address, or add skip_verify=true to accept any"},
	{asError[x509.HostnameError], "its certificate is for another name", "use that name, or add skip_verify=true to the address"},
	{asError[x509.CertificateInvalidError], "its certificate is not valid", "renew it, or add skip_verify=true to the address"},
	{isAlert("certificate required"), "it asks for a client certificate", namesCertificate},
	{isAlert("unknown certificate authority", "bad certificate", "expired certificate", "revoked certificate", "unsupported certificate", "unknown certificate", "access denied"),
		"it refused the client certificate", "name one in cert_file that is valid, and signed by an authority that the server knows (its tls-ca-cert-file)"},
	{isAlert(), "it refused the TLS handshake", "does it ask for a client certificate? " + namesCertificate},
	{isError(errNoMaster), "there is no such primary", "check master_name"},
	{isError(errNoPrimary), "there is no primary now", "does a failover go on? Sentinel is to name an address that this machine reaches (its announce-ip, the servers' replica-announce-ip)"},
	{isError(errNotSentinel), "it has a master_name, and is no Sentinel", "name a Sentinel (port 26379 as a rule), or leave master_name out"},
	{isError(errNoNode), "no node of the cluster answers", "are they running, and are these their addresses?"},
	{isError(errNoSentinel), "no Sentinel answers", "are they running, and are these their addresses?"},
	{asError[*net.DNSError], "the host name is not known", "check its spelling, or give an IP address"},
	{isError(syscall.ECONNREFUSED), "nothing listens there", "is it running, and is this its address?"},
	{isError(os.ErrNotExist), "there is no such socket", "is it running, and does it listen on a socket?"},
	{isError(os.ErrPermission), "no permission to open the socket", "run as a user who may, or change unixsocketperm"},
	{isTimeout, "no answer in time", "is it overloaded, stopped, or behind a firewall?"},
	{isClosed, "it hung up", "is it the right port? A server that speaks TLS wants rediss://"},
}

func replyOf(codes ...string) func(error) bool {
	return func(err error) bool { return isReply(err, codes...) }
}

func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func asError[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// redact removes passwords from err's text: a server that is no Redis may
// repeat its input.
func (s *Server) redact(err error) error {
	text := err.Error()
	for _, secret := range s.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
