// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";

/// Reads an announcement: the list of the keys with which a service signs, signed by its offline root key. `GET /v1/signers` has the
/// announcements of a service, and `tickseal keys announce` makes them.
///
/// An announcement is a signature of 65 bytes (r, s, v) and a body; all integers are big-endian.
///
///     body:       previous digest (32) | version (4) | issued (8) | expires (8) | root (20) | count (1) | entries
///     entry (49): kind (1) | key (32) | from (8) | until (8)
///     digest:     Keccak-256 of 0xFF, the ASCII text `tickseal-signers/v1`, and the body
library TicksealAnnouncement {
    /// The values before the entries.
    struct List {
        /// The digest of the preceding announcement; zero in the first announcement.
        bytes32 previous;
        uint32 version;
        /// The UNIX second at which the list was signed.
        uint64 issuedS;
        /// The UNIX second from which the list no longer counts.
        uint64 expiresS;
        /// The key that signs the next announcement; zero in a chain without a root.
        address root;
        /// The number of keys.
        uint256 count;
        bytes32 digest;
    }

    /// A key that signs payloads.
    struct Key {
        /// Zero for an entry that is no key of payloads, and for a revoked key.
        address key;
        uint64 fromS;
        /// The largest number for a key without an end.
        uint64 untilS;
    }

    /// The announcement has another length than its number of keys.
    error WrongAnnouncementLength(uint256 length);

    uint256 private constant SIGNATURE_BYTES = 65;
    uint256 private constant HEADER_BYTES = 73;
    uint256 private constant ENTRY_BYTES = 49;
    /// The kind of a key of payloads. A revoked key has the kind plus 0x80.
    uint8 private constant STREAM_KIND = 3;

    /// Reads the header and checks that the length fits it exactly.
    function read(bytes calldata announcement) internal pure returns (List memory list) {
        uint256 length = announcement.length;
        if (length < SIGNATURE_BYTES + HEADER_BYTES) revert WrongAnnouncementLength(length);
        bytes calldata body = announcement[SIGNATURE_BYTES:];
        list.previous = bytes32(body[0:32]);
        list.version = uint32(bytes4(body[32:36]));
        list.issuedS = uint64(bytes8(body[36:44]));
        list.expiresS = uint64(bytes8(body[44:52]));
        list.root = address(bytes20(body[52:72]));
        list.count = uint8(body[72]);
        if (body.length != HEADER_BYTES + list.count * ENTRY_BYTES) revert WrongAnnouncementLength(length);
        list.digest = keccak256(bytes.concat(hex"ff", "tickseal-signers/v1", body));
    }

    /// The address whose key signed the announcement.
    function recover(bytes calldata announcement, List memory list) internal pure returns (address) {
        return TicksealPayload.recoverFrom(announcement, list.digest);
    }

    /// Reads an entry.
    /// @param index less than the number of keys
    function keyAt(bytes calldata announcement, uint256 index) internal pure returns (Key memory found) {
        uint256 start = SIGNATURE_BYTES + HEADER_BYTES + index * ENTRY_BYTES;
        bytes calldata entry = announcement[start:start + ENTRY_BYTES];
        uint256 key = uint256(bytes32(entry[1:33]));
        if (uint8(entry[0]) != STREAM_KIND || key > type(uint160).max) return found;
        found.key = address(uint160(key));
        found.fromS = uint64(bytes8(entry[33:41]));
        found.untilS = uint64(bytes8(entry[41:49]));
    }
}
