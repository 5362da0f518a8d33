package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/ipfs/boxo/blockstore"
	block "github.com/ipfs/go-block-format"
	"github.com/ipfs/go-cid"
	"github.com/ipfs/go-datastore"
	datasync "github.com/ipfs/go-datastore/sync"
	"github.com/multiformats/go-varint"
	cbg "github.com/whyrusleeping/cbor-gen"
)

// lists are the messages of a block by CID, in its order.
type lists struct{ bls, secpk []cid.Cid }

// chain is all blocks at hand and the tipset that this peer says is its head. Nothing in it is validated.
type chain struct {
	blocks  blockstore.Blockstore
	genesis cid.Cid

	mu       sync.Mutex
	head     []*header
	withheld [][]*header // tipsets above the head, lowest first
	changed  func([]*header)
}

// openChain reads a CARv1 whose roots are the head, and goes down to genesis. The newest tipsets are withheld.
func openChain(ctx context.Context, path string, withhold int) (*chain, error) {
	c := &chain{blocks: blockstore.NewBlockstore(datasync.MutexWrap(datastore.NewMapDatastore()), blockstore.NoPrefix())}
	roots, err := c.readCar(ctx, path)
	if err != nil {
		return nil, err
	}
	if c.head, err = c.tipset(ctx, roots); err != nil {
		return nil, err
	}
	for ; withhold > 0; withhold-- {
		c.withheld = append([][]*header{c.head}, c.withheld...)
		if c.head, err = c.tipset(ctx, c.head[0].parents); err != nil {
			return nil, err
		}
	}
	lowest := c.head
	for lowest[0].height > 0 {
		if lowest, err = c.tipset(ctx, lowest[0].parents); err != nil {
			return nil, err
		}
	}
	c.genesis = lowest[0].cid
	return c, nil
}

func (c *chain) readCar(ctx context.Context, path string) ([]cid.Cid, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	section := func() ([]byte, error) {
		n, size, err := varint.FromUvarint(data)
		if err != nil {
			return nil, err
		}
		if uint64(len(data)-size) < n {
			return nil, io.ErrUnexpectedEOF
		}
		one := data[size : size+int(n)]
		data = data[size+int(n):]
		return one, nil
	}
	first, err := section()
	if err != nil {
		return nil, err
	}
	at := bytes.Index(first, []byte("eroots")) // a map of roots and version
	if at < 0 {
		return nil, fmt.Errorf("%w: no roots", errShape)
	}
	roots, err := readCids(reader(first[at+len("eroots"):]))
	for err == nil && len(data) > 0 {
		var one []byte
		if one, err = section(); err != nil {
			break
		}
		var n int
		var name cid.Cid
		if n, name, err = cid.CidFromBytes(one); err != nil {
			break
		}
		var b block.Block
		if b, err = block.NewBlockWithCid(one[n:], name); err == nil {
			err = c.blocks.Put(ctx, b)
		}
	}
	return roots, err
}

// put keeps a dag-cbor block and gives its name.
func (c *chain) put(ctx context.Context, data []byte) cid.Cid {
	name := cidOf(data)
	b, _ := block.NewBlockWithCid(data, name) // checks nothing here
	_ = c.blocks.Put(ctx, b)                  // into memory
	return name
}

func (c *chain) load(ctx context.Context, name cid.Cid) ([]byte, error) {
	b, err := c.blocks.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return b.RawData(), nil
}

func (c *chain) has(ctx context.Context, name cid.Cid) bool {
	has, err := c.blocks.Has(ctx, name)
	return has && err == nil
}

// tipset gives the headers of a key, in its order.
func (c *chain) tipset(ctx context.Context, key []cid.Cid) ([]*header, error) {
	if len(key) == 0 {
		return nil, errors.New("an empty tipset")
	}
	blocks := []*header{}
	for _, name := range key {
		data, err := c.load(ctx, name)
		if err != nil {
			return nil, err
		}
		h, err := parseHeader(data)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, h)
	}
	return blocks, nil
}

// messages gives the lists of a header.
func (c *chain) messages(ctx context.Context, h *header) (*lists, error) {
	data, err := c.load(ctx, h.messages)
	if err != nil {
		return nil, err
	}
	r := reader(data)
	if err := readTuple(r, 2); err != nil {
		return nil, err
	}
	found := &lists{}
	for _, into := range []*[]cid.Cid{&found.bls, &found.secpk} {
		root, err := cbg.ReadCid(r)
		if err != nil {
			return nil, err
		}
		if *into, err = readAmt(ctx, c.load, root); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// putLists keeps lists in the form in which a header names them, and gives that name.
func (c *chain) putLists(ctx context.Context, l *lists) cid.Cid {
	var meta writer
	meta.array(2)
	for _, values := range [][]cid.Cid{l.bls, l.secpk} {
		root, blocks := buildAmt(values)
		for _, data := range blocks {
			c.put(ctx, data)
		}
		meta.cid(root)
	}
	return c.put(ctx, meta.Bytes())
}

func (c *chain) currentHead() []*header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.head
}

// next moves the head to the lowest of the withheld tipsets; nil when there is none.
func (c *chain) next() []*header {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.withheld) == 0 {
		return nil
	}
	c.head, c.withheld = c.withheld[0], c.withheld[1:]
	return c.head
}

// adopt moves the head to a higher tipset, or adds a block of the head's own tipset to it. Its messages are at hand.
// (Lotus goes by weight; with producers that build on all they see, height says the same.)
func (c *chain) adopt(tipset []*header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := tipset[0].height
	switch {
	case at > c.head[0].height:
		c.head = inOrder(tipset)
	case at == c.head[0].height && slices.Equal(tipset[0].parents, c.head[0].parents):
		joined := inOrder(append(slices.Clone(c.head), tipset...))
		if len(joined) == len(c.head) {
			return
		}
		c.head = joined
	default:
		return
	}
	if c.changed != nil {
		c.changed(c.head)
	}
}

// inOrder sorts the blocks of a tipset, each once.
func inOrder(blocks []*header) []*header {
	slices.SortFunc(blocks, func(a, b *header) int {
		if by := bytes.Compare(a.order, b.order); by != 0 {
			return by
		}
		return bytes.Compare(a.cid.Bytes(), b.cid.Bytes())
	})
	return slices.CompactFunc(blocks, func(a, b *header) bool { return a.cid == b.cid })
}

func keyOf(tipset []*header) []cid.Cid {
	key := []cid.Cid{}
	for _, h := range tipset {
		key = append(key, h.cid)
	}
	return key
}
