// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";
import {TicksealPrices} from "./TicksealPrices.sol";
import {TicksealPyth} from "./TicksealPyth.sol";
import {TicksealQuotes} from "./TicksealQuotes.sol";
import {TicksealVerifier} from "./TicksealVerifier.sol";

/// A verifier that keeps the prices: feeds (`TicksealFeed`), IPyth (`TicksealPyth`) and ERC-7726 (`TicksealQuotes`) answer from them.
/// An update is a payload, unchanged. An asset is a streaming ID.
contract TicksealReader is TicksealVerifier, TicksealPyth, TicksealQuotes {
    using TicksealPayload for bytes;
    using TicksealPayload for TicksealPayload.Entry;

    constructor(
        uint16 taxonomyId_,
        uint64 maxAgeS_,
        uint64 maxFutureS_,
        address[] memory signers,
        TicksealPrices.Terms memory terms
    ) TicksealVerifier(taxonomyId_, maxAgeS_, maxFutureS_, signers) TicksealPrices(terms) {}

    function _readAll(bytes calldata payload)
        internal
        view
        override
        returns (uint64, TicksealPayload.Entry[] memory)
    {
        TicksealPayload.Header memory header = _verify(payload);
        return (header.timestampNs, payload.entries(header));
    }

    function _readSome(bytes calldata payload, uint16[] calldata assetIds)
        internal
        view
        override
        returns (uint64, TicksealPayload.Entry[] memory entries)
    {
        TicksealPayload.Header memory header = _verify(payload);
        payload.requireOrder(header);
        entries = new TicksealPayload.Entry[](assetIds.length);
        for (uint256 i = 0; i < entries.length; ++i) {
            entries[i].fill(payload.orderedWordOf(header, assetIds[i]), header.attributes);
        }
        return (header.timestampNs, entries);
    }
}
