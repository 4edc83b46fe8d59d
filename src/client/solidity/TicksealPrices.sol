// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";
import {TicksealSlot} from "./TicksealSlot.sol";

/// Keeps the newest price of each asset, in one storage slot, and the rounds before it. Anybody may pass on an update: only the signers
/// can make one. All interfaces of a reader and all its feeds answer from these slots.
///
/// Choices, the same at every door:
/// - A price is stored only if its payload is newer than the stored one, by nanoseconds. So an update that arrives late, twice or
///   from a second keeper changes nothing.
/// - A payload that is dated after the block is refused, whatever lead the verifier allows: `block.timestamp - updatedAt` of
///   a consumer never underflows.
/// - A price of a closed market is refused, so that the last price of the session stays and ages. Extended hours count as open.
/// - An age or a spread above the bound is refused in the same way. A bound of zero asks for nothing.
/// - Where the terms ask for an attribute, a payload without it is refused: else a submitter would choose the payload that says less.
/// - Zero and negative prices are prices: they are stored, and each interface answers them as its users expect.
abstract contract TicksealPrices {
    using TicksealSlot for uint256;

    /// The terms on which prices are stored and served. They are fixed at deployment.
    struct Terms {
        /// True when payloads must carry the market status.
        bool needsMarketStatus;
        /// The largest age of the newest input at the payload's time, in milliseconds; zero for any age.
        uint32 maxInputAgeMs;
        /// The largest spread of the inputs, in millionths of the price, up to 655,350; zero for any spread up to that.
        uint32 maxSpreadPpm;
        /// The largest age of a price in `getQuote`, in seconds.
        uint32 maxQuoteAgeS;
        /// The number of rounds of each asset that can be read, at least 1. A round before the newest one costs a slot more.
        uint32 rounds;
    }

    /// The reasons to store no price.
    enum Refusal {
        None,
        NotNewer,
        AttributeMissing,
        MarketClosed,
        InputsTooOld,
        SpreadTooWide
    }

    /// The update has no price that can be stored; the reason is that of its first asset that is refused.
    error Refused(uint16 assetId, Refusal why);
    /// The payload is dated after the block. It can be stored in a later block.
    error AheadOfBlock(uint64 timestampNs);
    /// There are no rounds, or the spread is above the largest that a slot can keep.
    error InvalidTerms();

    event PriceUpdated(uint16 indexed assetId, int128 value, uint64 timestampNs);

    uint256 internal constant NANOSECONDS = 1e9;

    bool public immutable needsMarketStatus;
    uint32 public immutable maxInputAgeMs;
    uint32 public immutable maxSpreadPpm;
    uint32 public immutable maxQuoteAgeS;
    uint32 public immutable rounds;

    mapping(uint16 assetId => uint256) private _newest;
    /// The rounds before the newest one, by their number modulo `rounds - 1`.
    mapping(uint16 assetId => mapping(uint256 place => uint256)) private _former;

    constructor(Terms memory terms) {
        if (terms.rounds == 0 || terms.maxSpreadPpm > TicksealSlot.SPREAD_PPM_MAX) revert InvalidTerms();
        needsMarketStatus = terms.needsMarketStatus;
        maxInputAgeMs = terms.maxInputAgeMs;
        maxSpreadPpm = terms.maxSpreadPpm;
        maxQuoteAgeS = terms.maxQuoteAgeS;
        rounds = terms.rounds;
    }

    /// Stores every price of an update that is newer and within the terms. Reverts when there is none, so that a keeper's simulation
    /// tells why.
    /// @return stored the number of prices
    function update(bytes calldata payload) external returns (uint256 stored) {
        (uint64 timestampNs, TicksealPayload.Entry[] memory entries) = _readAll(payload);
        return _storeOrRevert(timestampNs, entries);
    }

    /// As `update`, for some assets of the update. Assets that the update lacks make it revert.
    function updateSome(bytes calldata payload, uint16[] calldata assetIds) external returns (uint256 stored) {
        (uint64 timestampNs, TicksealPayload.Entry[] memory entries) = _readSome(payload, assetIds);
        return _storeOrRevert(timestampNs, entries);
    }

    /// Returns the newest price of an asset; its round is zero when there is none.
    function latestOf(uint16 assetId) public view returns (TicksealSlot.Price memory) {
        return slotOf(assetId).unpack();
    }

    /// Returns the slot of the newest price, for contracts that save gas.
    function slotOf(uint16 assetId) public view returns (uint256) {
        return _newest[assetId];
    }

    /// Returns the slot of one of the last rounds; zero when it is not kept.
    function slotOfRound(uint16 assetId, uint256 round) external view returns (uint256 slot) {
        slot = _newest[assetId];
        if (slot.roundOf() == round) return slot;
        if (rounds == 1) return 0;
        slot = _former[assetId][round % (rounds - 1)];
        if (slot.roundOf() != round) return 0;
    }

    /// Verifies an update and returns its time and all prices.
    function _readAll(bytes calldata payload)
        internal
        view
        virtual
        returns (uint64 timestampNs, TicksealPayload.Entry[] memory entries);

    /// Verifies an update and returns its time and the prices of some assets.
    function _readSome(bytes calldata payload, uint16[] calldata assetIds)
        internal
        view
        virtual
        returns (uint64 timestampNs, TicksealPayload.Entry[] memory entries);

    /// Stores what is newer and within the terms. Returns the first refused asset before any stored one, and the reason.
    function _storeAll(uint64 timestampNs, TicksealPayload.Entry[] memory entries)
        internal
        returns (uint256 stored, uint16 first, Refusal why)
    {
        if (timestampNs / NANOSECONDS > block.timestamp) revert AheadOfBlock(timestampNs);
        for (uint256 i = 0; i < entries.length; ++i) {
            Refusal found = _store(timestampNs, entries[i]);
            if (found == Refusal.None) ++stored;
            else if (stored == 0 && why == Refusal.None) (first, why) = (entries[i].assetId, found);
        }
    }

    /// Compares a price with the terms.
    function _refusalOf(TicksealPayload.Entry memory entry) internal view returns (Refusal) {
        uint256 needed = needsMarketStatus ? TicksealPayload.MASK_MARKET_STATUS : 0;
        if (maxInputAgeMs != 0) needed |= TicksealPayload.MASK_AGE;
        if (maxSpreadPpm != 0) needed |= TicksealPayload.MASK_SPREAD;
        if (entry.attributes & needed != needed) return Refusal.AttributeMissing;
        if (entry.marketStatus == TicksealPayload.CLOSED) return Refusal.MarketClosed;
        if (maxInputAgeMs != 0 && entry.ageMs > maxInputAgeMs) return Refusal.InputsTooOld;
        if (entry.spreadPpm > (maxSpreadPpm == 0 ? TicksealSlot.SPREAD_PPM_MAX : maxSpreadPpm)) return Refusal.SpreadTooWide;
        return Refusal.None;
    }

    function _store(uint64 timestampNs, TicksealPayload.Entry memory entry) private returns (Refusal why) {
        uint16 assetId = entry.assetId;
        uint256 slot = _newest[assetId];
        if (timestampNs <= slot.timestampNsOf()) return Refusal.NotNewer;
        why = _refusalOf(entry);
        if (why != Refusal.None) return why;
        uint256 round = slot.roundOf();
        if (rounds > 1 && round != 0) _former[assetId][round % (rounds - 1)] = slot;
        _newest[assetId] = TicksealSlot.pack(timestampNs, entry, round + 1);
        emit PriceUpdated(assetId, entry.value, timestampNs);
    }

    function _storeOrRevert(uint64 timestampNs, TicksealPayload.Entry[] memory entries) private returns (uint256 stored) {
        uint16 first;
        Refusal why;
        (stored, first, why) = _storeAll(timestampNs, entries);
        if (stored == 0) revert Refused(first, why);
    }
}
