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

    uint256 private constant NS_PER_S = 1e9;
    uint256 private constant PPM = 1e6;
    uint16 private constant TAXONOMY_ID_END = 0xFF00;
    uint16 private constant OPERATORS_MAX = 256;

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
        Rules memory agreed = rules;
        uint256 count = payloads.length;
        if (count < agreed.threshold || count > OPERATORS_MAX) revert WrongPayloadCount(count);
        TicksealPayload.Header[] memory headers = new TicksealPayload.Header[](count);
        timestampNs = _verifyAll(payloads, headers, agreed);
        prices = new int128[](assetIds.length);
        int256[] memory values = new int256[](count);
        for (uint256 asset = 0; asset < prices.length; ++asset) {
            if (assetIds[asset].length != count) revert WrongIdCount(asset);
            _readPrices(payloads, headers, assetIds[asset], values);
            prices[asset] = _agreed(values, asset, agreed.maxSpreadPpm);
        }
    }

    /// Fills `values` with the prices of an asset, sorted.
    function _readPrices(
        bytes[] calldata payloads,
        TicksealPayload.Header[] memory headers,
        uint16[] calldata ids,
        int256[] memory values
    ) private pure {
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes calldata payload = payloads[i];
            _insert(values, i, payload.valueOf(headers[i], ids[i]));
        }
    }

    /// Verifies each payload, and fills the headers. Returns the median time.
    function _verifyAll(bytes[] calldata payloads, TicksealPayload.Header[] memory headers, Rules memory agreed)
        private
        view
        returns (uint64)
    {
        uint256 count = payloads.length;
        int256[] memory times = new int256[](count);
        address previous = address(0);
        uint256 operatorsSeen = 0;
        for (uint256 i = 0; i < count; ++i) {
            (TicksealPayload.Header memory header, address signer) = _verifyOne(payloads[i], agreed);
            if (signer <= previous) revert UnorderedSigners(signer);
            previous = signer;
            operatorsSeen = _countOperator(signer, header.taxonomyId, operatorsSeen);
            headers[i] = header;
            _insert(times, i, int256(uint256(header.timestampNs)));
        }
        uint64 oldestNs = uint64(uint256(times[0]));
        uint64 newestNs = uint64(uint256(times[count - 1]));
        if (newestNs - oldestNs > agreed.maxAgeS * NS_PER_S) revert TimesApart(oldestNs, newestNs);
        return uint64(uint256(times[(count - 1) / 2]));
    }

    /// Checks a payload's form, age and signature.
    function _verifyOne(bytes calldata payload, Rules memory agreed)
        private
        view
        returns (TicksealPayload.Header memory header, address signer)
    {
        header = payload.readHeader();
        uint256 timestampS = header.timestampNs / NS_PER_S;
        if (timestampS + agreed.maxAgeS < block.timestamp) revert TooOld(header.timestampNs);
        if (timestampS > block.timestamp + agreed.maxFutureS) revert InTheFuture(header.timestampNs);
        payload.requireOrder(header);
        signer = payload.recover();
    }

    /// Checks that a signer is known, has not expired, uses its operator's taxonomy, and that its operator is new.
    function _countOperator(address signer, uint16 taxonomyId, uint256 operatorsSeen) private view returns (uint256) {
        Signer memory known = signers[signer];
        if (known.operatorId == 0) revert UnknownSigner(signer);
        if (block.timestamp < known.fromS) revert FutureSigner(signer, known.fromS);
        if (block.timestamp >= known.untilS) revert ExpiredSigner(signer, known.untilS);
        if (taxonomyId != known.taxonomyId) revert WrongTaxonomy(taxonomyId);
        uint256 bit = uint256(1) << (known.operatorId - 1);
        if (operatorsSeen & bit != 0) revert SameOperator(known.operatorId);
        return operatorsSeen | bit;
    }

    /// Returns the median of sorted prices after their spread was checked. Between two it is their middle, rounded toward zero.
    function _agreed(int256[] memory sorted, uint256 asset, uint256 maxSpreadPpm) private pure returns (int128) {
        uint256 count = sorted.length;
        int256 lowest = sorted[0];
        int256 highest = sorted[count - 1];
        uint256 closest = _absolute(lowest) < _absolute(highest) ? _absolute(lowest) : _absolute(highest);
        // Prices have 128 bits, so no product overflows. Prices with different signs are 200 % apart or more.
        if (uint256(highest - lowest) * PPM > maxSpreadPpm * closest) {
            revert PricesApart(asset, int128(lowest), int128(highest));
        }
        int256 upper = sorted[count / 2];
        return int128(count % 2 == 1 ? upper : (sorted[count / 2 - 1] + upper) / 2);
    }

    /// Inserts a value into the first `count` values, which are sorted.
    function _insert(int256[] memory values, uint256 count, int256 value) private pure {
        uint256 place = count;
        for (; place > 0 && values[place - 1] > value; --place) {
            values[place] = values[place - 1];
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
