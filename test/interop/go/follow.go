package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	cbg "github.com/whyrusleeping/cbor-gen"
)

const (
	batchTipsets  = 200
	gatherTimeout = 20 * time.Second
	// Wasm code of actors, and bytecode: what nobody has is not waited for longer.
	leafTimeout = time.Second
)

// follower takes on what other peers have: their chain, its messages, the state below their head. So it can stand
// between two nodes that do not know each other.
type follower struct {
	chain    *chain
	exchange *exchange
	bitswap  *bitswap.Bitswap
	stats    *stats

	one    sync.Mutex // one chain at a time
	mu     sync.Mutex
	whole  map[cid.Cid]bool // blocks whose messages and parents are here
	absent map[cid.Cid]bool // what nobody had
}

func (f *follower) isWhole(key []cid.Cid) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range key {
		if !f.whole[name] {
			return false
		}
	}
	return true
}

func (f *follower) setWhole(tipset []*header) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range tipset {
		f.whole[h.cid] = true
	}
}

// heardHead fetches the chain below a head that a peer named, and goes on from it.
func (f *follower) heardHead(from peer.ID, key []cid.Cid) {
	if err := f.fetchChain(context.Background(), from, key); err != nil {
		f.stats.fail("chain of a peer", err)
	}
}

func (f *follower) fetchChain(ctx context.Context, from peer.ID, key []cid.Cid) error {
	f.one.Lock()
	defer f.one.Unlock()
	fetched := [][]*header{}
	for at := key; len(at) > 0 && !f.isWhole(at); {
		got, err := f.exchange.ask(ctx, from, at, batchTipsets, wantHeaders|wantMessages)
		if err != nil {
			return err
		}
		if len(got.tipsets) == 0 {
			return fmt.Errorf("exchange: status %d %s", got.status, got.text)
		}
		fetched = append(fetched, got.tipsets...)
		lowest := got.tipsets[len(got.tipsets)-1][0]
		if lowest.height == 0 {
			break // its parents are no blocks
		}
		at = lowest.parents
	}
	for _, tipset := range fetched {
		f.setWhole(tipset)
	}
	if len(fetched) > 0 {
		f.chain.adopt(fetched[0])
		f.fetchState(ctx, fetched[0])
	}
	return nil
}

// heardBlock gathers the messages of a block that gossip brought: those at hand, the rest by bitswap.
func (f *follower) heardBlock(from peer.ID, h *header, l *lists) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), gatherTimeout)
		defer cancel()
		if err := f.gather(ctx, from, h, l); err != nil {
			f.stats.fail("block "+h.cid.String(), err)
		}
	}()
}

func (f *follower) gather(ctx context.Context, from peer.ID, h *header, l *lists) error {
	if err := f.fetchBlocks(ctx, append(append([]cid.Cid{}, l.bls...), l.secpk...)); err != nil {
		return err
	}
	if root := f.chain.putLists(ctx, l); root != h.messages {
		return fmt.Errorf("messages make %s, the header says %s", root, h.messages)
	}
	f.chain.put(ctx, h.data)
	if !f.isWhole(h.parents) {
		if err := f.fetchChain(ctx, from, h.parents); err != nil {
			return err
		}
	}
	f.setWhole([]*header{h})
	f.chain.adopt([]*header{h})
	f.fetchState(ctx, []*header{h})
	return nil
}

// fetchBlocks brings what is not here.
func (f *follower) fetchBlocks(ctx context.Context, names []cid.Cid) error {
	missing := map[cid.Cid]bool{}
	for _, name := range names {
		if !f.chain.has(ctx, name) {
			missing[name] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	list := []cid.Cid{}
	for name := range missing {
		list = append(list, name)
	}
	got, err := f.bitswap.NewSession(ctx).GetBlocks(ctx, list)
	if err != nil {
		return err
	}
	for b := range got {
		if err := f.chain.blocks.Put(ctx, b); err != nil {
			return err
		}
		delete(missing, b.Cid())
	}
	f.stats.add("blocks fetched", len(list)-len(missing))
	if len(missing) > 0 {
		return fmt.Errorf("%d of %d blocks did not come", len(missing), len(list))
	}
	return nil
}

func (f *follower) fetchState(ctx context.Context, tipset []*header) {
	if _, err := f.fetchGraph(ctx, []cid.Cid{tipset[0].stateRoot, tipset[0].receipts}); err != nil {
		f.stats.fail("state", err)
	}
}

// fetchGraph brings everything below these roots. @returns how many blocks are there, without those nobody had
func (f *follower) fetchGraph(ctx context.Context, roots []cid.Cid) (int, error) {
	seen := map[cid.Cid]bool{}
	count := 0
	for level := roots; len(level) > 0; {
		nodes, leaves := []cid.Cid{}, []cid.Cid{}
		for _, name := range level {
			if seen[name] || f.isAbsent(name) {
				continue
			}
			seen[name] = true
			switch name.Prefix().Codec {
			case cid.DagCBOR:
				nodes = append(nodes, name)
			case cid.Raw:
				leaves = append(leaves, name)
			}
		}
		if err := f.fetchBlocks(ctx, nodes); err != nil {
			return count, err
		}
		f.fetchLeaves(ctx, leaves)
		count += len(nodes) + len(leaves)
		level = []cid.Cid{}
		for _, name := range nodes {
			data, err := f.chain.load(ctx, name)
			if err != nil {
				return count, err
			}
			err = cbg.ScanForLinks(bytes.NewReader(data), func(link cid.Cid) { level = append(level, link) })
			if err != nil {
				return count, err
			}
		}
	}
	return count, nil
}

func (f *follower) fetchLeaves(ctx context.Context, leaves []cid.Cid) {
	ctx, cancel := context.WithTimeout(ctx, leafTimeout)
	defer cancel()
	_ = f.fetchBlocks(ctx, leaves)
	for _, name := range leaves {
		if !f.chain.has(context.Background(), name) {
			f.mu.Lock()
			f.absent[name] = true
			f.mu.Unlock()
		}
	}
}

func (f *follower) isAbsent(name cid.Cid) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.absent[name]
}
