// Go's encoding/xml as a peer of the benchmark: the line protocol of ../PROTOCOL.md over stdin and
// stdout.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// copies of a message to decode, so that no run finds it in the cache because of the previous run.
const copies = 16

// work is a prepared workload.
type work struct {
	kind     *kind
	encodes  bool
	messages [][]byte
	next     int
	values   any
	out      bytes.Buffer
	baseline int64
}

func prepare(workload string, message []byte) (*work, error) {
	direction, name, _ := strings.Cut(workload, "-")
	for i := range kinds {
		if kinds[i].name == name && (direction == "decode" || direction == "encode") {
			return newWork(&kinds[i], direction == "encode", message)
		}
	}
	return nil, errors.New("unknown workload " + workload)
}

func newWork(kind *kind, encodes bool, message []byte) (w *work, err error) {
	w = &work{kind: kind, encodes: encodes}
	if encodes {
		w.values, err = kind.decode(message)
	} else {
		for i := 0; i < copies; i++ {
			w.messages = append(w.messages, append([]byte(nil), message...))
		}
	}
	debug.FreeOSMemory()
	w.baseline = status("VmRSS:")
	if err == nil {
		err = w.once()
	}
	return w, err
}

// once is one timed run. The values decoded by the previous run are garbage from here on.
func (w *work) once() (err error) {
	if w.encodes {
		w.out.Reset()
		return w.kind.encode(&w.out, w.values)
	}
	w.next++
	w.values, err = w.kind.decode(w.messages[w.next%copies])
	return err
}

func (w *work) checksum() (string, error) {
	if !w.encodes {
		return w.kind.sum(w.values), nil
	}
	values, err := w.kind.decode(w.out.Bytes())
	if err != nil {
		return "", err
	}
	return w.kind.sum(values), nil
}

func (w *work) bytes() int {
	if w.encodes {
		return w.out.Len()
	}
	return len(w.messages[0])
}

func (w *work) run(count int) (string, error) {
	resetPeak()
	times := make([]string, count)
	for i := range times {
		start := time.Now()
		if err := w.once(); err != nil {
			return "", err
		}
		times[i] = strconv.FormatInt(time.Since(start).Nanoseconds(), 10)
	}
	peak := status("VmHWM:") - w.baseline
	if peak < 0 {
		peak = 0
	}
	sum, err := w.checksum()
	return fmt.Sprintf(`{"ns":[%s],"checksum":"%s","peak_bytes":%d}`, strings.Join(times, ","), sum, peak), err
}

// peer answers requests.
type peer struct {
	requests *bufio.Reader
	prepared *work
}

func (p *peer) answer(line string) (string, error) {
	words := strings.Split(line, " ")
	switch {
	case words[0] == "hello":
		return hello(), nil
	case words[0] == "prepare" && len(words) == 4:
		return p.prepare(words[1], words[3])
	case words[0] == "run" && len(words) == 2:
		count, err := strconv.Atoi(words[1])
		if err != nil || count < 1 || p.prepared == nil {
			return "", errors.New("nothing to run")
		}
		return p.prepared.run(count)
	case words[0] == "output" && p.prepared != nil && p.prepared.encodes:
		return fmt.Sprintf("%d\n%s", p.prepared.out.Len(), p.prepared.out.Bytes()), nil
	case words[0] == "serve" && len(words) == 2:
		return serve(words[1])
	}
	return "", errors.New("this peer does not know " + line)
}

func hello() string {
	var names []string
	for _, direction := range []string{"decode", "encode"} {
		for _, kind := range kinds {
			names = append(names, fmt.Sprintf("%q", direction+"-"+kind.name))
		}
	}
	version := strings.TrimPrefix(runtime.Version(), "go")
	return fmt.Sprintf(`{"peer":"go","version":"%s","workloads":[%s],"operations":[%s]}`, version, strings.Join(names, ","), operations())
}

func (p *peer) prepare(workload, length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil {
		return "", err
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(p.requests, message); err != nil {
		return "", err
	}
	p.prepared = nil
	prepared, err := prepare(workload, message)
	if err != nil {
		return "", err
	}
	sum, err := prepared.checksum()
	if err != nil {
		return "", err
	}
	p.prepared = prepared
	return fmt.Sprintf(`{"ok":true,"checksum":"%s","bytes":%d}`, sum, prepared.bytes()), nil
}

func main() {
	p := &peer{requests: bufio.NewReader(os.Stdin)}
	for {
		line, err := p.requests.ReadString('\n')
		if err != nil || line == "quit\n" {
			return
		}
		answer, err := p.answer(strings.TrimSuffix(line, "\n"))
		if err != nil {
			plain := strings.NewReplacer(`"`, " ", `\`, " ", "\n", " ").Replace(err.Error())
			answer = fmt.Sprintf(`{"ok":false,"error":"%s"}`, plain)
		}
		// The octets of an output are not followed by a line feed.
		if !strings.HasPrefix(line, "output") || err != nil {
			answer += "\n"
		}
		_, _ = os.Stdout.WriteString(answer)
	}
}
