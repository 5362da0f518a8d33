package main

import (
	"bytes"
	"context"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/boxo/bitswap/network/bsnet"
	"github.com/ipfs/boxo/blockservice"
	"github.com/ipfs/boxo/blockstore"
	chunk "github.com/ipfs/boxo/chunker"
	"github.com/ipfs/boxo/exchange/offline"
	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs/importer/balanced"
	"github.com/ipfs/boxo/ipld/unixfs/importer/helpers"
	"github.com/ipfs/go-cid"
	"github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/host"
)

// shareFile cuts data as a node of IPFS does with a file (CIDs of version 0, as of Filecoin's parameters, unless raw leaves
// are wanted) and serves its blocks to whoever speaks IPFS' bitswap.
func shareFile(ctx context.Context, h host.Host, data []byte, piece int64, rawLeaves bool) (cid.Cid, error) {
	blocks := blockstore.NewBlockstore(sync.MutexWrap(datastore.NewMapDatastore()))
	params := helpers.DagBuilderParams{
		Maxlinks:  helpers.DefaultLinksPerBlock,
		RawLeaves: rawLeaves,
		Dagserv:   merkledag.NewDAGService(blockservice.New(blocks, offline.Exchange(blocks))),
	}
	if rawLeaves {
		params.CidBuilder = merkledag.V1CidPrefix()
	}
	builder, err := params.New(chunk.NewSizeSplitter(bytes.NewReader(data), piece))
	if err != nil {
		return cid.Undef, err
	}
	root, err := balanced.Layout(builder)
	if err != nil {
		return cid.Undef, err
	}
	bitswap.New(ctx, bsnet.NewFromIpfsHost(h), nil, blocks)
	return root.Cid(), nil
}
