// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";
import {TicksealPrices} from "./TicksealPrices.sol";
import {TicksealPyth} from "./TicksealPyth.sol";
import {TicksealQuorum} from "./TicksealQuorum.sol";
import {TicksealQuotes} from "./TicksealQuotes.sol";

/// A quorum that keeps the prices: as `TicksealReader`, but each price is one on which several operators agree. An asset is a number
/// that the owner gives; the owner also says which streaming ID the asset has at each operator.
///
/// An update has the payloads of the operators, in ascending order of their signers, and names the assets to store:
///
///     update: number of assets (1) | assets (2 each) | payloads, each: length (2), payload
contract TicksealQuorumReader is TicksealQuorum, TicksealPyth, TicksealQuotes {
    /// The update ends inside of a value.
    error WrongUpdateLength(uint256 length);
    /// The owner has not said which streaming ID the asset has at this operator.
    error UnmappedAsset(uint16 assetId, uint16 operatorId);

    event StreamingIdSet(uint16 indexed assetId, uint16 indexed operatorId, uint16 streamingId);

    uint256 private constant IDS_A_SLOT = 16;

    /// The streaming IDs of an asset, of 16 operators in each slot. Zero means none.
    mapping(uint16 assetId => mapping(uint256 place => uint256)) private _streamingIds;

    constructor(TicksealQuorum.Rules memory rules_, TicksealPrices.Terms memory terms)
        TicksealQuorum(rules_)
        TicksealPrices(terms)
    {}

    /// Says which streaming ID an asset has at an operator; zero for none, so an asset with the streaming ID 0 cannot be used.
    function setStreamingId(uint16 assetId, uint16 operatorId, uint16 streamingId) external onlyOwner {
        if (operatorId == 0 || operatorId > OPERATORS_MAX) revert InvalidSigner(address(0), operatorId);
        (uint256 place, uint256 shift) = _placeOf(operatorId);
        uint256 others = _streamingIds[assetId][place] & ~(uint256(type(uint16).max) << shift);
        _streamingIds[assetId][place] = others | (uint256(streamingId) << shift);
        emit StreamingIdSet(assetId, operatorId, streamingId);
    }

    /// Returns the streaming ID of an asset at an operator; zero for none.
    function streamingIdOf(uint16 assetId, uint16 operatorId) public view returns (uint16) {
        (uint256 place, uint256 shift) = _placeOf(operatorId);
        return uint16(_streamingIds[assetId][place] >> shift);
    }

    function _readAll(bytes calldata payload)
        internal
        view
        override
        returns (uint64 timestampNs, TicksealPayload.Entry[] memory entries)
    {
        (uint256 count, Vote[] memory votes) = _split(payload);
        timestampNs = _verifyAll(votes);
        entries = new TicksealPayload.Entry[](count);
        for (uint256 i = 0; i < count; ++i) {
            entries[i] = _entryOf(votes, uint16(bytes2(payload[1 + 2 * i:3 + 2 * i])));
        }
    }

    /// The update need not name the assets.
    function _readSome(bytes calldata payload, uint16[] calldata assetIds)
        internal
        view
        override
        returns (uint64 timestampNs, TicksealPayload.Entry[] memory entries)
    {
        (, Vote[] memory votes) = _split(payload);
        timestampNs = _verifyAll(votes);
        entries = new TicksealPayload.Entry[](assetIds.length);
        for (uint256 i = 0; i < assetIds.length; ++i) {
            entries[i] = _entryOf(votes, assetIds[i]);
        }
    }

    function _entryOf(Vote[] memory votes, uint16 assetId) private view returns (TicksealPayload.Entry memory entry) {
        for (uint256 i = 0; i < votes.length; ++i) {
            votes[i].assetId = streamingIdOf(assetId, votes[i].operatorId);
            if (votes[i].assetId == 0) revert UnmappedAsset(assetId, votes[i].operatorId);
        }
        entry = _agreed(votes, assetId);
        entry.assetId = assetId;
    }

    /// Finds the payloads of an update.
    function _split(bytes calldata payload) private pure returns (uint256 assets, Vote[] memory votes) {
        uint256 length = payload.length;
        if (length == 0) revert WrongUpdateLength(length);
        assets = uint8(payload[0]);
        uint256 first = 1 + 2 * assets;
        uint256 count = 0;
        for (uint256 place = first; place != length; ++count) {
            if (place + 2 > length) revert WrongUpdateLength(length);
            place += 2 + uint16(bytes2(payload[place:place + 2]));
        }
        votes = new Vote[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 bytesOfOne = uint16(bytes2(payload[first:first + 2]));
            _place(votes[i], payload[first + 2:first + 2 + bytesOfOne]);
            first += 2 + bytesOfOne;
        }
    }

    function _placeOf(uint16 operatorId) private pure returns (uint256 place, uint256 shift) {
        uint256 index = uint256(operatorId) - 1;
        return (index / IDS_A_SLOT, (index % IDS_A_SLOT) * 16);
    }
}
