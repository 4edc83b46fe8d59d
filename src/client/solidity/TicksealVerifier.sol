// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealAnnounced} from "./TicksealAnnounced.sol";
import {TicksealPayload} from "./TicksealPayload.sol";

/// Accepts payloads of the signers that its owner named or that a root key announced, of one taxonomy, and of a limited age. A protocol
/// inherits from it, or calls it.
contract TicksealVerifier is TicksealAnnounced {
    using TicksealPayload for bytes;

    /// The key that made the signature is not on the list, or does not count now.
    error UnknownSigner(address signer);
    /// The payload belongs to another mapping of asset IDs to assets.
    error WrongTaxonomy(uint16 taxonomyId);
    /// The payload is older than `maxAgeS`.
    error TooOld(uint64 timestampNs);
    /// The payload is dated more than `maxFutureS` ahead of the block.
    error InTheFuture(uint64 timestampNs);
    /// Simplified payloads of such a taxonomy would start with the magic byte of versioned ones.
    error AmbiguousTaxonomy(uint16 taxonomyId);

    event SignerChanged(address indexed signer, bool accepted);
    event SignerSpanSet(address indexed signer, uint64 fromS, uint64 untilS);

    /// The time of a key.
    struct Span {
        uint64 fromS;
        /// The UNIX second from which the key counts no longer; zero for an unknown key.
        uint64 untilS;
    }

    /// The number of the only operator.
    uint16 private constant OPERATOR = 0;
    uint64 private constant NS_PER_S = 1e9;
    uint16 private constant TAXONOMY_ID_END = 0xFF00;

    uint16 public immutable taxonomyId;
    /// A payload may be this much older than the block, in seconds.
    uint64 public immutable maxAgeS;
    /// And dated this much later than it: the time of a block may lag behind the clocks of a service.
    uint64 public immutable maxFutureS;

    mapping(address signer => Span) public spanOf;

    constructor(uint16 taxonomyId_, uint64 maxAgeS_, uint64 maxFutureS_, address[] memory signers) {
        if (taxonomyId_ >= TAXONOMY_ID_END) revert AmbiguousTaxonomy(taxonomyId_);
        taxonomyId = taxonomyId_;
        maxAgeS = maxAgeS_;
        maxFutureS = maxFutureS_;
        for (uint256 i = 0; i < signers.length; ++i) {
            _setSigner(signers[i], true);
        }
    }

    /// Adds a signer, or takes one away whose key was lost or replaced.
    function setSigner(address signer, bool accepted) external onlyOwner {
        _setSigner(signer, accepted);
    }

    /// Adds a signer until before a UNIX second. With a second that is over, the signer is taken away.
    function setSignerUntil(address signer, uint64 untilS) external onlyOwner {
        spanOf[signer] = Span(0, untilS);
        emit SignerSpanSet(signer, 0, untilS);
    }

    /// Names the root key whose announcements add and remove signers; zero for none. Signers of earlier announcements are taken away.
    function setRoot(address root) external onlyOwner {
        _setRoot(OPERATOR, root);
    }

    /// Accepts the next announcements of the root key, in their order. Anybody may call it.
    function announce(bytes[] calldata announcements) external {
        _announce(OPERATOR, announcements);
    }

    /// Tells whether a payload of this signer is accepted now.
    function isSigner(address signer) public view returns (bool) {
        Span memory span = spanOf[signer];
        return block.timestamp >= span.fromS && block.timestamp < span.untilS;
    }

    /// Verifies a payload of either layout and returns its time and all entries. It reverts with what is wrong.
    function verify(bytes calldata payload)
        external
        view
        returns (uint64 timestampNs, TicksealPayload.Entry[] memory entries)
    {
        TicksealPayload.Header memory header = _verify(payload);
        return (header.timestampNs, payload.entries(header));
    }

    /// Verifies a payload of either layout and returns the entry of one asset.
    function priceOf(bytes calldata payload, uint16 assetId)
        external
        view
        returns (uint64 timestampNs, TicksealPayload.Entry memory entry)
    {
        TicksealPayload.Header memory header = _verify(payload);
        return (header.timestampNs, payload.entryOf(header, assetId));
    }

    /// Signature, signer, layout, taxonomy and age.
    function _verify(bytes calldata payload) internal view returns (TicksealPayload.Header memory header) {
        header = payload.readHeader();
        if (header.taxonomyId != taxonomyId) revert WrongTaxonomy(header.taxonomyId);
        uint256 timestampS = header.timestampNs / NS_PER_S;
        if (timestampS + maxAgeS < block.timestamp) revert TooOld(header.timestampNs);
        if (timestampS > block.timestamp + maxFutureS) revert InTheFuture(header.timestampNs);
        address signer = payload.recover();
        if (!isSigner(signer)) revert UnknownSigner(signer);
    }

    function _setSigner(address signer, bool accepted) private {
        spanOf[signer] = Span(0, accepted ? type(uint64).max : 0);
        emit SignerChanged(signer, accepted);
    }

    function _setKey(uint16, address key, uint64 fromS, uint64 untilS) internal override {
        spanOf[key] = Span(fromS, untilS);
        emit SignerSpanSet(key, fromS, untilS);
    }

    function _removeKey(uint16, address key) internal override {
        _setSigner(key, false);
    }
}
