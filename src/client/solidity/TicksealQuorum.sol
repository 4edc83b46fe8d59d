// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealAnnounced} from "./TicksealAnnounced.sol";
import {TicksealPayload} from "./TicksealPayload.sol";

/// Accepts prices on which several operators agree: the median of the payloads of at least `threshold` operators, each signed by a
/// key of another operator and of that operator's taxonomy. A protocol inherits from it, or calls it.
///
/// The caller chooses which payloads it passes, and every one of them must count: a payload that differs too much, is old or
/// is of an unknown signer makes the call revert. So a submitter leaves a liar's payload out.
contract TicksealQuorum is TicksealAnnounced {
    using TicksealPayload for bytes;
    using TicksealPayload for TicksealPayload.Entry;

    /// Fewer payloads than `threshold`, or more than there can be operators.
    error WrongPayloadCount(uint256 count);
    /// A payload's signer is not greater than the one before it, or the same.
    error UnorderedSigners(address signer);
    /// The key that made the signature is not on the list.
    error UnknownSigner(address signer);
    /// The key counted until a time that is over.
    error ExpiredSigner(address signer, uint64 untilS);
    /// The key counts only from a later time.
    error FutureSigner(address signer, uint64 fromS);
    /// An operator announced a key that another operator has.
    error KeyOfAnotherOperator(address signer, uint16 operatorId);
    /// Two payloads of one operator, with two of its keys.
    error SameOperator(uint16 operatorId);
    /// The payload belongs to another mapping of asset IDs than its operator's.
    error WrongTaxonomy(uint16 taxonomyId);
    /// The payload is older than `maxAgeS`.
    error TooOld(uint64 timestampNs);
    /// The payload is dated more than `maxFutureS` ahead of the block.
    error InTheFuture(uint64 timestampNs);
    /// The times of two payloads are further apart than `maxAgeS`.
    error TimesApart(uint64 oldestNs, uint64 newestNs);
    /// The prices of an asset differ by more than `maxSpreadPpm` of the one closer to zero.
    error PricesApart(uint256 asset, int128 lowest, int128 highest);
    /// Each asset needs one streaming ID for each payload.
    error WrongIdCount(uint256 asset);
    /// The rules cannot hold.
    error InvalidRules();
    /// Zero is not a signer, and operators are numbered from 1 to 256.
    error InvalidSigner(address signer, uint16 operatorId);
    /// Simplified payloads of such a taxonomy would start with the magic byte of versioned ones.
    error AmbiguousTaxonomy(uint16 taxonomyId);

    event SignerSet(address indexed signer, uint16 indexed operatorId, uint16 taxonomyId, uint64 untilS);
    event RulesSet(uint16 threshold, uint32 maxSpreadPpm, uint32 maxAgeS, uint32 maxFutureS);

    /// A key of an operator; all zero for an address that is none.
    struct Signer {
        /// The operator, from 1 to 256. All keys of an operator have the same number.
        uint16 operatorId;
        /// The taxonomy of the operator's payloads.
        uint16 taxonomyId;
        /// The UNIX second from which the key counts no longer.
        uint64 untilS;
        /// The UNIX second from which the key counts.
        uint64 fromS;
    }

    /// The agreement that is demanded; one storage slot.
    struct Rules {
        /// The number of operators that must agree, at least 2.
        uint16 threshold;
        /// The largest difference of two prices, in millionths of the one closer to zero; at most 1,000,000.
        uint32 maxSpreadPpm;
        /// The largest age of a payload, and the largest difference of two times, in seconds.
        uint32 maxAgeS;
        /// The largest lead of a payload's time over the block's, in seconds.
        uint32 maxFutureS;
    }

    /// A payload of one operator.
    struct Vote {
        /// The place of the payload in the call data, and its length.
        uint256 start;
        uint256 length;
        TicksealPayload.Header header;
        uint16 operatorId;
        /// The streaming ID of the asset whose price is read.
        uint16 assetId;
    }

    uint256 private constant NS_PER_S = 1e9;
    uint256 private constant PPM = 1e6;
    uint16 private constant TAXONOMY_ID_END = 0xFF00;
    uint16 internal constant OPERATORS_MAX = 256;

    Rules public rules;
    mapping(address signer => Signer) public signers;
    /// The taxonomies of the operators that have a root key.
    mapping(uint16 operatorId => uint16) public taxonomyOf;

    constructor(Rules memory rules_) {
        _setRules(rules_);
    }

    /// Changes the agreement that is demanded.
    function setRules(Rules calldata rules_) external onlyOwner {
        _setRules(rules_);
    }

    /// Adds a key of an operator, or changes its expiry. With an expiry that is over, the key is cut off.
    function setSigner(address signer, uint16 operatorId, uint16 taxonomyId, uint64 untilS) external onlyOwner {
        if (signer == address(0)) revert InvalidSigner(signer, operatorId);
        _requireOperator(signer, operatorId, taxonomyId);
        _set(signer, Signer(operatorId, taxonomyId, untilS, 0));
    }

    /// Names the root key of an operator, whose announcements add and remove its keys; zero for none. Keys of earlier announcements are
    /// taken away.
    function setRoot(uint16 operatorId, uint16 taxonomyId, address root) external onlyOwner {
        _requireOperator(root, operatorId, taxonomyId);
        taxonomyOf[operatorId] = taxonomyId;
        _setRoot(operatorId, root);
    }

    /// Accepts the next announcements of an operator's root key, in their order. Anybody may call it.
    function announce(uint16 operatorId, bytes[] calldata announcements) external {
        _announce(operatorId, announcements);
    }

    /// Returns the median prices of assets, and the median time of the payloads (of two the older one).
    /// @param payloads one of each operator, in ascending order of their signers' addresses
    /// @param assetIds for each asset its streaming IDs: one for each payload, in the same order
    function pricesOf(bytes[] calldata payloads, uint16[][] calldata assetIds)
        external
        view
        returns (uint64 timestampNs, int128[] memory prices)
    {
        return _pricesOf(payloads, assetIds);
    }

    /// As `pricesOf`, for contracts that inherit.
    function _pricesOf(bytes[] calldata payloads, uint16[][] calldata assetIds)
        internal
        view
        returns (uint64 timestampNs, int128[] memory prices)
    {
        uint256 count = payloads.length;
        Vote[] memory votes = new Vote[](count);
        for (uint256 i = 0; i < count; ++i) {
            _place(votes[i], payloads[i]);
        }
        timestampNs = _verifyAll(votes);
        prices = new int128[](assetIds.length);
        for (uint256 asset = 0; asset < prices.length; ++asset) {
            uint16[] calldata ids = assetIds[asset];
            if (ids.length != count) revert WrongIdCount(asset);
            for (uint256 i = 0; i < count; ++i) {
                votes[i].assetId = ids[i];
            }
            prices[asset] = _agreed(votes, asset).value;
        }
    }

    /// Verifies the payloads of votes, and fills their headers and operators. Returns the median time.
    function _verifyAll(Vote[] memory votes) internal view returns (uint64) {
        uint256 count = votes.length;
        Rules memory agreed = rules;
        if (count < agreed.threshold || count > OPERATORS_MAX) revert WrongPayloadCount(count);
        int256[] memory times = new int256[](count);
        address previous = address(0);
        uint256 operatorsSeen = 0;
        for (uint256 i = 0; i < count; ++i) {
            Vote memory vote = votes[i];
            TicksealPayload.Header memory header = vote.header;
            address signer = _verifyOne(_payloadOf(vote), header, agreed);
            if (signer <= previous) revert UnorderedSigners(signer);
            previous = signer;
            vote.operatorId = _operatorOf(signer, header.taxonomyId);
            uint256 bit = uint256(1) << (vote.operatorId - 1);
            if (operatorsSeen & bit != 0) revert SameOperator(vote.operatorId);
            operatorsSeen |= bit;
            _insert(times, i, int256(uint256(header.timestampNs)));
        }
        uint64 oldestNs = uint64(uint256(times[0]));
        uint64 newestNs = uint64(uint256(times[count - 1]));
        if (newestNs - oldestNs > agreed.maxAgeS * NS_PER_S) revert TimesApart(oldestNs, newestNs);
        return uint64(uint256(times[(count - 1) / 2]));
    }

    /// Sets the place of a vote's payload.
    function _place(Vote memory vote, bytes calldata payload) internal pure {
        uint256 start;
        assembly ("memory-safe") {
            start := payload.offset
        }
        (vote.start, vote.length) = (start, payload.length);
    }

    function _payloadOf(Vote memory vote) private pure returns (bytes calldata payload) {
        assembly ("memory-safe") {
            payload.offset := mload(vote)
            payload.length := mload(add(vote, 32))
        }
    }

    /// Checks a payload's form, age and signature, and fills its header. Returns the signer.
    function _verifyOne(bytes calldata payload, TicksealPayload.Header memory header, Rules memory agreed)
        private
        view
        returns (address)
    {
        payload.readInto(header);
        uint256 timestampS = header.timestampNs / NS_PER_S;
        if (timestampS + agreed.maxAgeS < block.timestamp) revert TooOld(header.timestampNs);
        if (timestampS > block.timestamp + agreed.maxFutureS) revert InTheFuture(header.timestampNs);
        payload.requireOrder(header);
        return payload.recover();
    }

    /// Returns the operator of a signer that is known, has not expired, and uses its operator's taxonomy.
    function _operatorOf(address signer, uint16 taxonomyId) private view returns (uint16) {
        Signer memory known = signers[signer];
        if (known.operatorId == 0) revert UnknownSigner(signer);
        if (block.timestamp < known.fromS) revert FutureSigner(signer, known.fromS);
        if (block.timestamp >= known.untilS) revert ExpiredSigner(signer, known.untilS);
        if (taxonomyId != known.taxonomyId) revert WrongTaxonomy(taxonomyId);
        return known.operatorId;
    }

    /// Returns the median of the prices of verified votes after their spread was checked. Between two it is their middle, rounded toward
    /// zero. The other values are the worst of all votes: a market is closed if one says so, the spread is the greatest of the votes' own
    /// and the distance of the votes from each other together, and an attribute counts only if all votes have it.
    function _agreed(Vote[] memory votes, uint256 asset) internal view returns (TicksealPayload.Entry memory worst) {
        uint256 count = votes.length;
        int256[] memory sorted = new int256[](count);
        TicksealPayload.Entry memory entry;
        worst.marketStatus = TicksealPayload.NO_SCHEDULE;
        worst.publishers = type(uint8).max;
        worst.attributes = type(uint16).max;
        for (uint256 i = 0; i < count; ++i) {
            Vote memory vote = votes[i];
            uint256 word = _payloadOf(vote).orderedWordOf(vote.header, vote.assetId);
            _insert(sorted, i, int128(uint128(word >> 112)));
            uint16 attributes = vote.header.attributes;
            worst.attributes &= attributes;
            if (attributes == TicksealPayload.MASK_PRICE) continue;
            entry.fill(word, attributes);
            if (entry.marketStatus < worst.marketStatus) worst.marketStatus = entry.marketStatus;
            if (entry.publishers < worst.publishers) worst.publishers = entry.publishers;
            if (entry.ageMs > worst.ageMs) worst.ageMs = entry.ageMs;
            if (entry.spreadPpm > worst.spreadPpm) worst.spreadPpm = entry.spreadPpm;
        }
        if (worst.attributes & TicksealPayload.MASK_PUBLISHERS == 0) worst.publishers = 0;
        int256 upper = sorted[count / 2];
        worst.value = int128(count % 2 == 1 ? upper : (sorted[count / 2 - 1] + upper) / 2);
        uint256 apartPpm = _spreadOf(sorted[0], sorted[count - 1], asset) + worst.spreadPpm;
        worst.spreadPpm = apartPpm > type(uint32).max ? type(uint32).max : uint32(apartPpm);
    }

    /// Checks the difference of two prices against the rules. Returns it in millionths of the one closer to zero, rounded up.
    function _spreadOf(int256 lowest, int256 highest, uint256 asset) private view returns (uint256) {
        uint256 closest = _absolute(lowest) < _absolute(highest) ? _absolute(lowest) : _absolute(highest);
        // Prices have 128 bits, so no product overflows. Prices with different signs are 200 % apart or more.
        uint256 difference = uint256(highest - lowest) * PPM;
        if (difference > rules.maxSpreadPpm * closest) revert PricesApart(asset, int128(lowest), int128(highest));
        return closest == 0 ? 0 : (difference + closest - 1) / closest;
    }

    /// Inserts a value into the first `count` values, which are sorted.
    function _insert(int256[] memory values, uint256 count, int256 value) private pure {
        uint256 place = count;
        // The place is at least 1 where 1 is subtracted.
        unchecked {
            for (; place > 0 && values[place - 1] > value; --place) {
                values[place] = values[place - 1];
            }
        }
        values[place] = value;
    }

    function _absolute(int256 value) private pure returns (uint256) {
        return uint256(value < 0 ? -value : value);
    }

    function _requireOperator(address key, uint16 operatorId, uint16 taxonomyId) private pure {
        if (operatorId == 0 || operatorId > OPERATORS_MAX) revert InvalidSigner(key, operatorId);
        if (taxonomyId >= TAXONOMY_ID_END) revert AmbiguousTaxonomy(taxonomyId);
    }

    function _set(address signer, Signer memory known) private {
        signers[signer] = known;
        emit SignerSet(signer, known.operatorId, known.taxonomyId, known.untilS);
    }

    /// A key counts for one operator, so an operator cannot take the key of another one.
    function _setKey(uint16 operatorId, address key, uint64 fromS, uint64 untilS) internal override {
        uint16 other = signers[key].operatorId;
        if (other != 0 && other != operatorId) revert KeyOfAnotherOperator(key, other);
        _set(key, Signer(operatorId, taxonomyOf[operatorId], untilS, fromS));
    }

    function _removeKey(uint16 operatorId, address key) internal override {
        // The owner may have given the key to another operator since.
        if (signers[key].operatorId == operatorId) _set(key, Signer(0, 0, 0, 0));
    }

    function _setRules(Rules memory rules_) private {
        if (rules_.threshold < 2 || rules_.threshold > OPERATORS_MAX || rules_.maxSpreadPpm > PPM || rules_.maxAgeS == 0) {
            revert InvalidRules();
        }
        rules = rules_;
        emit RulesSet(rules_.threshold, rules_.maxSpreadPpm, rules_.maxAgeS, rules_.maxFutureS);
    }
}
