// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "allot-soak")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "allot")
	out, err := exec.Command("go", "build", "-o", path, "allot/cmd/allot").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// The times of the networks under test. Capacity is back when a node that died was noticed (Reign, and the time that the
// control plane needs to choose a leader among those who are left), and its lease and the margin have passed.
const (
	reign    = 2 * time.Second
	lease    = 3 * time.Second
	election = 10 * time.Second
	recovery = 2*reign + election + 2*lease + 10*time.Second
)

// cluster is a network of nodes that are processes.
type cluster struct {
	t     *testing.T
	dir   string
	nodes []*process
	store *store
	units int
	space *spaces // network namespaces, or nil
	work  []*process
	last  string // what the last call that failed said
}

// process is a node, or a process of clients.
type process struct {
	t       *testing.T
	name    string
	args    []string
	env     []string
	prefix  []string // how to get into its namespace
	cmd     *exec.Cmd
	done    chan struct{}
	log     string
	address string // of its API
	stopped bool
}

// spawn starts a process that dies with this one. The kernel means the thread, so it must be one that lives as long as we do.
func spawn(c *exec.Cmd) error {
	once.Do(func() {
		go func() {
			runtime.LockOSThread()
			for start := range starts {
				start()
			}
		}()
	})
	done := make(chan error)
	starts <- func() { done <- c.Start() }
	return <-done
}

var (
	once   sync.Once
	starts = make(chan func())
)

func (p *process) start() {
	p.t.Helper()
	args := append(append([]string{}, p.prefix...), p.args...)
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := spawn(p.cmd); err != nil {
		p.t.Fatal(err)
	}
	_ = log.Close()
	done := make(chan struct{})
	p.done = done
	go func(c *exec.Cmd) {
		_ = c.Wait()
		close(done)
	}(p.cmd)
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.done
}

func (p *process) isUp() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for len(ports) < n {
		// Below the range from which the kernel takes the ports of outgoing connections, and none twice.
		port := 20000 + (os.Getpid()*97+int(nextPort.Add(1)))%12000
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			ports = append(ports, port)
		}
	}
	return ports
}

var nextPort atomic.Int32

// newCluster starts a network of n nodes on loopback with a pool, and clients at each of them.
func newCluster(t *testing.T, n, units, most int) *cluster {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: t.TempDir(), store: newStore(t), units: units}
	ports := freePorts(t, 2*n)
	join := ""
	for i := range n {
		join += fmt.Sprintf(",127.0.0.1:%d", ports[n+i])
	}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		p := &process{t: t, name: name, log: filepath.Join(c.dir, name+".log"), address: fmt.Sprintf("127.0.0.1:%d", ports[i])}
		p.args = []string{path, "node", "--name", name, "--dir", filepath.Join(c.dir, name), "--listen", p.address,
			"--cluster", fmt.Sprintf("127.0.0.1:%d", ports[n+i]), "--join", join[1:], "--reign", reign.String(), "--test-hooks", "--log-level", "warn"}
		c.nodes = append(c.nodes, p)
	}
	c.begin(most)
	return c
}

func (c *cluster) begin(most int) {
	t := c.t
	t.Helper()
	t.Cleanup(c.end)
	for _, p := range c.nodes {
		p.start()
	}
	c.until(time.Minute, "all nodes are members", func() bool { return c.members() == len(c.nodes) })
	c.must(c.nodes[0], "PoolService/CreatePool", map[string]any{"name": "p", "units": c.units, "most": most, "lease": lease.String()})
	for i, p := range c.nodes {
		w := c.clients(fmt.Sprintf("w%d", i), p, 4, most)
		w.start()
		c.work = append(c.work, w)
	}
	c.until(30*time.Second, "units are used", func() bool { return c.store.total() > 50 })
}

// clients makes a process of clients at a node.
func (c *cluster) clients(name string, at *process, n, most int) *process {
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	o, err := json.Marshal(workerOptions{Name: name, Addresses: []string{at.address}, Socket: c.store.socket, Pool: "p", Clients: n, Most: most,
		Seed: uint64(len(c.work)), Hold: 30 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
	return &process{t: c.t, name: name, args: []string{self}, prefix: at.prefix, env: []string{workerVariable + "=" + string(o)}, log: filepath.Join(c.dir, name+".log")}
}

func (c *cluster) end() {
	for _, p := range append(c.work, c.nodes...) {
		if p.cmd != nil && p.isUp() {
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
			p.kill()
		}
	}
	if c.t.Failed() {
		for _, p := range append(c.nodes, c.work...) {
			data, _ := os.ReadFile(p.log)
			if len(data) > 3000 {
				data = data[len(data)-3000:]
			}
			c.t.Logf("log of %s:\n%s", p.name, data)
		}
	}
}

func (c *cluster) until(most time.Duration, what string, is func() bool) {
	c.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > most {
			c.t.Fatalf("after %v it is not so that %s%s", most, what, c.last)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if d := time.Since(began); d > time.Second {
		c.t.Logf("%s after %v", what, d.Round(10*time.Millisecond))
	}
}

var quick = &http.Client{Timeout: 3 * time.Second}

// call makes an HTTP/JSON call.
func (c *cluster) call(p *process, method string, body any) (map[string]any, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	client := quick
	if c.space != nil {
		client = c.space.client(p)
	}
	r, err := client.Post("http://"+p.address+"/allot.v1."+method, "application/json", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	var m map[string]any
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		return m, fmt.Errorf("%s: %v", r.Status, m)
	}
	return m, nil
}

func (c *cluster) must(p *process, method string, body any) map[string]any {
	c.t.Helper()
	var m map[string]any
	c.until(20*time.Second, method+" succeeds", func() bool {
		var err error
		if m, err = c.call(p, method, body); err != nil {
			c.last = ": " + err.Error()
		}
		return err == nil
	})
	return m
}

// members is in how many nodes' view all nodes that are up are members.
func (c *cluster) members() int {
	up := 0
	for _, p := range c.nodes {
		if p.isUp() && !p.stopped {
			up++
		}
	}
	n := 0
	for _, p := range c.nodes {
		if !p.isUp() || p.stopped {
			continue
		}
		m, err := c.call(p, "ObserveService/GetStatus", struct{}{})
		if err != nil {
			continue
		}
		s, _ := m["status"].(map[string]any)
		list, _ := s["members"].([]any)
		if s["ready"] == true && len(list) == up {
			n++
		}
	}
	return n
}

// root finds the node that is the root.
func (c *cluster) root() *process {
	c.t.Helper()
	for _, p := range c.nodes {
		m, err := c.call(p, "ObserveService/GetStatus", struct{}{})
		if err != nil {
			continue
		}
		s, _ := m["status"].(map[string]any)
		for _, q := range c.nodes {
			if q.name == s["root"] {
				return q
			}
		}
	}
	c.t.Fatal("no node knows the root")
	return nil
}

// whole waits until one client can hold all units at once at a node: full capacity is back.
func (c *cluster) whole(at *process) {
	c.t.Helper()
	for _, w := range c.work {
		if w.isUp() {
			w.kill()
		}
	}
	c.until(recovery, "all units can be had", func() bool {
		m, err := c.call(at, "PoolService/GetPool", map[string]any{"name": "p"})
		if err != nil {
			return false
		}
		pool, _ := m["pool"].(map[string]any)
		p, _ := pool["status"].(map[string]any)
		free, _ := p["free"].(float64)
		transit, _ := p["inTransit"].(float64)
		return int(free+transit) == c.units && p["stable"] == true
	})
}

// served waits until every client of every process that is up has used something since now.
func (c *cluster) served() {
	c.t.Helper()
	before := map[string]int{}
	for _, w := range c.work {
		for i := range 4 {
			who := fmt.Sprintf("%s.%d", w.name, i)
			before[who] = c.store.count(who)
		}
	}
	c.until(recovery, "every client is served again", func() bool {
		for _, w := range c.work {
			for i := range 4 {
				who := fmt.Sprintf("%s.%d", w.name, i)
				if w.isUp() && c.store.count(who) == before[who] {
					return false
				}
			}
		}
		return true
	})
}
