// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealAnnouncement} from "./TicksealAnnouncement.sol";
import {TicksealOwned} from "./TicksealOwned.sol";

/// Follows the announcements of operators whose root keys the owner named. Anybody may pass on an announcement: only the root key can
/// make one. So a key is replaced without the owner of the contract.
abstract contract TicksealAnnounced is TicksealOwned {
    using TicksealAnnouncement for bytes;

    /// The owner named no root key of this operator.
    error NoRoot(uint16 operatorId);
    /// A call without an announcement.
    error NoAnnouncement();
    /// Another key than the root signed the announcement.
    error WrongRoot(address signer, address root);
    /// The announcement does not follow the last one: it is a replay, or one before it is missing.
    error BrokenChain(uint32 version, uint32 lastVersion);
    /// The announcement was issued in the future or before the last one, or its list has expired.
    error WrongAnnouncementTime(uint64 issuedS, uint64 expiresS);
    /// The announcement names no root key for the next one.
    error MissingNextRoot(uint32 version);

    event RootSet(uint16 indexed operatorId, address indexed root);
    event Announced(uint16 indexed operatorId, uint32 version, bytes32 digest, uint64 expiresS);

    /// The last announcement of an operator.
    struct Chain {
        /// The key that signs the next announcement; zero when the contract follows no announcements of the operator.
        address root;
        uint32 version;
        uint64 issuedS;
        bytes32 digest;
        /// The keys that the contract has from the last announcement.
        address[] keys;
    }

    /// The largest lead of an announcement's time over the block's, in seconds.
    uint64 private constant CLOCK_S = 3_600;
    /// A key counts so many seconds before and after its time, because clocks differ and payloads take time to arrive.
    uint64 private constant KEY_GRACE_S = 60;

    mapping(uint16 operatorId => Chain) internal _chains;

    /// Returns the root key of an operator and the version of its last announcement.
    function chainOf(uint16 operatorId) external view returns (address root, uint32 version, bytes32 digest) {
        Chain storage chain = _chains[operatorId];
        return (chain.root, chain.version, chain.digest);
    }

    /// Begins to follow a root key, and removes the keys of earlier announcements. With zero, it follows no announcements any more.
    function _setRoot(uint16 operatorId, address root) internal {
        Chain storage chain = _chains[operatorId];
        _removeAll(operatorId, chain);
        chain.root = root;
        chain.version = 0;
        chain.issuedS = 0;
        chain.digest = 0;
        emit RootSet(operatorId, root);
    }

    /// Accepts the next announcements of an operator, in their order. The keys of the last one replace those of the one before.
    function _announce(uint16 operatorId, bytes[] calldata announcements) internal {
        Chain storage chain = _chains[operatorId];
        Chain memory last = chain;
        if (last.root == address(0)) revert NoRoot(operatorId);
        if (announcements.length == 0) revert NoAnnouncement();
        TicksealAnnouncement.List memory list = _next(announcements[0], last);
        for (uint256 i = 1; i < announcements.length; ++i) {
            list = _next(announcements[i], last);
        }
        if (list.expiresS <= block.timestamp) revert WrongAnnouncementTime(list.issuedS, list.expiresS);
        _removeAll(operatorId, chain);
        chain.root = last.root;
        chain.version = last.version;
        chain.issuedS = last.issuedS;
        chain.digest = last.digest;
        emit Announced(operatorId, list.version, list.digest, list.expiresS);
        _addAll(operatorId, chain, announcements[announcements.length - 1], list);
    }

    /// Reads the announcement after the last one, which it becomes.
    function _next(bytes calldata announcement, Chain memory last)
        private
        view
        returns (TicksealAnnouncement.List memory list)
    {
        list = announcement.read();
        address signer = announcement.recover(list);
        if (signer != last.root) revert WrongRoot(signer, last.root);
        bool follows = last.version == 0
            ? list.version != 0 && (list.version > 1 || list.previous == 0)
            : list.version == uint256(last.version) + 1 && list.previous == last.digest;
        if (!follows || list.version == type(uint32).max) revert BrokenChain(list.version, last.version);
        if (list.root == address(0)) revert MissingNextRoot(list.version);
        if (
            list.issuedS < last.issuedS || list.expiresS <= list.issuedS || list.issuedS > block.timestamp + CLOCK_S
        ) revert WrongAnnouncementTime(list.issuedS, list.expiresS);
        last.root = list.root;
        last.version = list.version;
        last.issuedS = list.issuedS;
        last.digest = list.digest;
    }

    function _addAll(
        uint16 operatorId,
        Chain storage chain,
        bytes calldata announcement,
        TicksealAnnouncement.List memory list
    ) private {
        for (uint256 i = 0; i < list.count; ++i) {
            TicksealAnnouncement.Key memory found = announcement.keyAt(i);
            if (found.key == address(0)) continue;
            uint64 fromS = found.fromS < KEY_GRACE_S ? 0 : found.fromS - KEY_GRACE_S;
            // No key counts longer than its list.
            uint64 untilS = found.untilS > list.expiresS ? list.expiresS : found.untilS + KEY_GRACE_S;
            if (untilS > list.expiresS) untilS = list.expiresS;
            chain.keys.push(found.key);
            _setKey(operatorId, found.key, fromS, untilS);
        }
    }

    function _removeAll(uint16 operatorId, Chain storage chain) private {
        for (uint256 i = 0; i < chain.keys.length; ++i) {
            _removeKey(operatorId, chain.keys[i]);
        }
        delete chain.keys;
    }

    /// Lets a key of an operator sign from one UNIX second until before another.
    function _setKey(uint16 operatorId, address key, uint64 fromS, uint64 untilS) internal virtual;

    /// Ends a key that an earlier announcement had.
    function _removeKey(uint16 operatorId, address key) internal virtual;
}
