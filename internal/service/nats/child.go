package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// childVariable is set in the environment of a child, and has its settings.
const childVariable = "LOCKBENCH_NATS_SERVER"

// The settings of a child. Name is random, so that nobody takes another server for the child.
type settings struct {
	Name, Address, Password, Folder string
	JetStream                       bool
	// Certificate and Key are files of TLS, empty for none.
	Certificate, Key string `json:",omitempty"`
}

const childUser = "lockbench"

// init makes this process a server if the environment has the settings of one. A program starts a server
// by starting itself again, and so does a test of any package. A function that each main and TestMain
// has to call could be forgotten, and the program would start itself without end.
func init() {
	text, set := os.LookupEnv(childVariable)
	if !set {
		return
	}
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs a server until the standard input ends: when the parent ends, it does, too.
func serve(text string) error {
	var its settings
	if err := json.Unmarshal([]byte(text), &its); err != nil || its.Password == "" {
		return errors.Join(fmt.Errorf("%s=%q: not the settings of a server; hint: unset it, lockbench alone uses it", childVariable, text), err)
	}
	host, port, err := net.SplitHostPort(its.Address)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	options := &server.Options{
		ServerName: its.Name, Host: host, Port: number, Username: childUser, Password: its.Password,
		JetStream: its.JetStream, StoreDir: its.Folder, NoSigs: true,
	}
	if its.Certificate != "" {
		if options.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: its.Certificate, KeyFile: its.Key}); err != nil {
			return err
		}
		options.TLS = true
	}
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return err
}

// childCommand returns the command of a child. Its standard input ends with this process.
func childCommand(its settings) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(its)
	if err != nil {
		return nil, err
	}
	command := &exec.Cmd{Path: self, Args: []string{self}, Dir: its.Folder, Env: append(os.Environ(), childVariable+"="+string(text))}
	_, err = command.StdinPipe()
	return command, err
}
