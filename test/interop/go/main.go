// A Filecoin peer out of the libraries that Lotus is made of, for tests: it knows one chain, from an archive or from the
// peers it follows, and does over libp2p what Lotus does. It validates nothing.
//
// Prints one JSON object a line: {"ready": {id, addresses}}, then answers. Reads commands, one a line:
// {"id", "method", "params"}; answers {"id", "result"} or {"id", "error"}. Ends with its input.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/boxo/bitswap/network/bsnet"
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

const (
	maxCommandBytes = 64 << 20
	redialAfter     = time.Second
)

// stats counts what happened, by name, and keeps what went wrong.
type stats struct {
	mu     sync.Mutex
	Counts map[string]int `json:"counts"`
	Errors []string       `json:"errors"`
}

func (s *stats) add(name string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Counts[name] += by
}

func (s *stats) fail(what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Errors = append(s.Errors, what+": "+err.Error())
}

type node struct {
	host     host.Host
	chain    *chain
	hello    *hello
	exchange *exchange
	gossip   *gossip
	follower *follower
	stats    *stats
}

func start(ctx context.Context, car, networkName, listen string, withhold int) (*node, error) {
	c, err := openChain(ctx, car, withhold)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	h, err := libp2p.New(libp2p.ListenAddrStrings(strings.Split(listen, ",")...), libp2p.UserAgent("petrel-interop"))
	if err != nil {
		return nil, err
	}
	n := &node{host: h, chain: c, stats: &stats{Counts: map[string]int{}, Errors: []string{}}}
	n.exchange = &exchange{h, c, n.stats}
	n.hello = &hello{host: h, chain: c, stats: n.stats}
	bs := bitswap.New(ctx, bsnet.NewFromIpfsHost(h, bsnet.Prefix("/chain")), nil, c.blocks)
	n.follower = &follower{
		chain: c, exchange: n.exchange, bitswap: bs, stats: n.stats,
		whole: map[cid.Cid]bool{c.genesis: true}, absent: map[cid.Cid]bool{},
	}
	n.follower.setWhole(c.head)
	n.gossip = &gossip{chain: c, stats: n.stats, heard: n.follower.heardBlock}
	n.hello.heard = n.follower.heardHead
	h.SetStreamHandler(helloProtocol, n.hello.handle)
	h.SetStreamHandler(exchangeProtocol, n.exchange.handle)
	if err := startGossip(ctx, h, networkName, n.gossip); err != nil {
		return nil, err
	}
	h.Network().Notify(&network.NotifyBundle{
		DisconnectedF: func(_ network.Network, c network.Conn) { n.lost(ctx, c) },
	})
	return n, n.greetAll(ctx)
}

// lost dials again whom it had dialled: a node that was too busy to answer pings is still wanted.
func (n *node) lost(ctx context.Context, c network.Conn) {
	n.stats.add("connections lost", 1)
	if c.Stat().Direction != network.DirOutbound {
		return
	}
	go func() {
		for n.host.Network().Connectedness(c.RemotePeer()) != network.Connected && ctx.Err() == nil {
			time.Sleep(redialAfter)
			_ = n.host.Connect(ctx, peer.AddrInfo{ID: c.RemotePeer(), Addrs: []multiaddr.Multiaddr{c.RemoteMultiaddr()}})
		}
	}()
}

// greetAll says hello to each peer as soon as identify has told who it is.
func (n *node) greetAll(ctx context.Context) error {
	sub, err := n.host.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted))
	if err != nil {
		return err
	}
	go func() {
		for one := range sub.Out() {
			found := one.(event.EvtPeerIdentificationCompleted)
			n.stats.add("agent "+found.AgentVersion, 1)
			if !slices.Contains(found.Protocols, helloProtocol) {
				continue
			}
			go func() {
				if err := n.hello.say(ctx, found.Peer); err != nil {
					n.stats.fail("hello", err)
				}
			}()
		}
	}()
	return nil
}

type tipsetNote struct {
	Height int64    `json:"height"`
	Cids   []string `json:"cids"`
}

func noteOf(tipset []*header) *tipsetNote {
	if len(tipset) == 0 {
		return nil
	}
	note := &tipsetNote{Height: tipset[0].height}
	for _, h := range tipset {
		note.Cids = append(note.Cids, h.cid.String())
	}
	return note
}

type params struct {
	Peer     string   `json:"peer"`
	Address  string   `json:"address"`
	Protocol string   `json:"protocol"`
	Message  string   `json:"message"`
	Mode     string   `json:"mode"`
	Head     []string `json:"head"`
	Length   uint64   `json:"length"`
	Options  uint64   `json:"options"`
}

func cidsOf(texts []string) ([]cid.Cid, error) {
	cids := []cid.Cid{}
	for _, text := range texts {
		one, err := cid.Decode(text)
		if err != nil {
			return nil, err
		}
		cids = append(cids, one)
	}
	return cids, nil
}

func (n *node) run(ctx context.Context, method string, p params) (any, error) {
	var to peer.ID
	if p.Peer != "" {
		var err error
		if to, err = peer.Decode(p.Peer); err != nil {
			return nil, err
		}
	}
	cids, err := cidsOf(p.Head)
	if err != nil {
		return nil, err
	}
	switch method {
	case "connect":
		info, err := peer.AddrInfoFromString(p.Address)
		if err != nil {
			return nil, err
		}
		return info.ID.String(), n.host.Connect(ctx, *info)
	case "peers":
		connected := map[string]string{}
		for _, c := range n.host.Network().Conns() {
			connected[c.RemotePeer().String()] = c.RemoteMultiaddr().String()
		}
		return connected, nil
	case "head":
		return noteOf(n.chain.currentHead()), nil
	case "next": // goes on to the next withheld tipset and gossips its blocks
		tipset := n.chain.next()
		if tipset == nil {
			return nil, nil
		}
		return noteOf(tipset), n.gossip.publish(ctx, tipset)
	case "exchange":
		got, err := n.exchange.ask(ctx, to, cids, p.Length, p.Options)
		if err != nil {
			return nil, err
		}
		tipsets := []*tipsetNote{}
		for _, one := range got.tipsets {
			tipsets = append(tipsets, noteOf(one))
		}
		return map[string]any{
			"status": got.status, "text": got.text, "tipsets": tipsets, "messages": got.messages,
		}, nil
	case "fetch": // everything below these roots, by bitswap
		return n.follower.fetchGraph(ctx, cids)
	case "share": // a file, by IPFS' bitswap
		data, err := hex.DecodeString(p.Message)
		if err != nil {
			return nil, err
		}
		root, err := shareFile(ctx, n.host, data, int64(p.Length), p.Mode == "raw leaves")
		return root.String(), err
	case "greeting":
		return fmt.Sprintf("%x", n.hello.greeting()), nil
	case "raw":
		return sendRaw(ctx, n.host, to, p.Protocol, p.Message, p.Mode)
	case "stats":
		n.stats.mu.Lock()
		defer n.stats.mu.Unlock()
		return json.RawMessage(mustJson(n.stats)), nil
	}
	return nil, errors.New("no such method")
}

func mustJson(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // all of our own types
	}
	return data
}

func main() {
	car := flag.String("chain", "", "CARv1 whose roots are the head; every block down to genesis is in it")
	networkName := flag.String("network", "", "name of the network, as in its topics")
	listen := flag.String("listen", "/ip4/127.0.0.1/tcp/0", "addresses to listen on, with commas")
	withhold := flag.Int("withhold", 0, "tipsets above the head that `next` gossips one after the other")
	flag.Parse()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n, err := start(ctx, *car, *networkName, *listen, *withhold)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var out sync.Mutex
	print := func(value any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(string(mustJson(value)))
	}
	addresses := []string{}
	for _, a := range n.host.Addrs() {
		addresses = append(addresses, a.String()+"/p2p/"+n.host.ID().String())
	}
	print(map[string]any{"ready": map[string]any{"id": n.host.ID().String(), "addresses": addresses}})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxCommandBytes)
	for lines.Scan() {
		var command struct {
			Id     int    `json:"id"`
			Method string `json:"method"`
			Params params `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &command); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go func() {
			result, err := n.run(ctx, command.Method, command.Params)
			if err != nil {
				print(map[string]any{"id": command.Id, "error": err.Error()})
				return
			}
			print(map[string]any{"id": command.Id, "result": result})
		}()
	}
}
