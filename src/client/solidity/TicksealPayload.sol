// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Reads the payload of a `signed_ecdsa` frame: the bytes that the hex text in its field `p` stands for.
///
/// A payload is a signature of 65 bytes (r, s, v) and a body; all integers are big-endian.
///
///     simplified body: taxonomy ID (2) | timestamp in ns (8) | N times: asset ID (2), value (16)
///     versioned body:  0xFF | version 0x02 | attribute mask (2) | taxonomy ID (2) | timestamp in ns (8)
///                      | N times: asset ID (2), value (16), and the market status (1) where bit 1 of the mask is set
///
/// A value is a signed 128-bit integer: the price times 10^18. The signature is over the Keccak-256 of the body.
library TicksealPayload {
    /// The values before the entries, and the place of the entries.
    struct Header {
        uint16 taxonomyId;
        uint64 timestampNs;
        /// The number of entries; at least 1.
        uint256 count;
        /// The offset of the first entry in the payload.
        uint256 entriesAt;
        /// The size of one entry: 18 bytes, or 19 with a market status.
        uint256 entryBytes;
    }

    /// The price of one asset.
    struct Entry {
        uint16 assetId;
        /// The price times 10^18.
        int128 value;
        /// 0 closed, 1 regular, 2 extended, 3 after hours; NO_SCHEDULE for an asset that trades around the clock, and where
        /// the payload carries no market status.
        uint8 marketStatus;
    }

    /// The payload has another length than its layout.
    error WrongLength(uint256 length);
    /// A versioned body of a version that this library does not know.
    error UnknownVersion(uint8 version);
    /// The attribute mask has no price, or bits that this library does not know.
    error UnknownAttributes(uint16 mask);
    /// v is not 0 or 1, s is in the upper half of the curve order, or no key made this signature.
    error InvalidSignature();
    /// Entries are not in ascending order of their asset IDs.
    error UnorderedAssets(uint16 assetId);
    /// The payload holds no entry of this asset.
    error AssetMissing(uint16 assetId);
    /// The index is not below the payload's number of entries.
    error NoSuchEntry(uint256 index);

    uint8 internal constant NO_SCHEDULE = 0xFF;

    uint256 private constant SIGNATURE_BYTES = 65;
    uint256 private constant SIMPLIFIED_HEADER_BYTES = 10;
    uint256 private constant VERSIONED_HEADER_BYTES = 14;
    uint256 private constant PRICE_ENTRY_BYTES = 18;
    uint8 private constant MAGIC = 0xFF;
    uint8 private constant VERSION = 0x02;
    uint16 private constant MASK_PRICE = 0x0001;
    uint16 private constant MASK_PRICE_AND_STATUS = 0x0003;
    /// Half of the order of secp256k1: of the two signatures with the same meaning, only the one below it is accepted.
    uint256 private constant HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// The address whose key signed the payload. A recovered address is no proof of trust: compare it with the signers that you know.
    function recover(bytes calldata payload) internal pure returns (address signer) {
        if (payload.length < SIGNATURE_BYTES + SIMPLIFIED_HEADER_BYTES) revert WrongLength(payload.length);
        return recoverFrom(payload, keccak256(payload[SIGNATURE_BYTES:]));
    }

    /// The address whose key made the signature at the beginning of some bytes.
    /// @param signed at least 65 bytes
    function recoverFrom(bytes calldata signed, bytes32 digest) internal pure returns (address signer) {
        bytes32 r = bytes32(signed[0:32]);
        bytes32 s = bytes32(signed[32:64]);
        uint8 v = uint8(signed[64]);
        if (v > 1 || uint256(s) > HALF_ORDER) revert InvalidSignature();
        signer = ecrecover(digest, v + 27, r, s);
        if (signer == address(0)) revert InvalidSignature();
    }

    /// Reads the header and checks that the length fits it exactly.
    function readHeader(bytes calldata payload) internal pure returns (Header memory header) {
        uint256 length = payload.length;
        if (length < SIGNATURE_BYTES + SIMPLIFIED_HEADER_BYTES) revert WrongLength(length);
        bytes calldata body = payload[SIGNATURE_BYTES:];
        uint256 headerBytes = SIMPLIFIED_HEADER_BYTES;
        header.entryBytes = PRICE_ENTRY_BYTES;
        uint256 taxonomyAt = 0;
        if (uint8(body[0]) == MAGIC) {
            if (body.length < VERSIONED_HEADER_BYTES) revert WrongLength(length);
            if (uint8(body[1]) != VERSION) revert UnknownVersion(uint8(body[1]));
            uint16 mask = uint16(bytes2(body[2:4]));
            if (mask == MASK_PRICE_AND_STATUS) header.entryBytes = PRICE_ENTRY_BYTES + 1;
            else if (mask != MASK_PRICE) revert UnknownAttributes(mask);
            headerBytes = VERSIONED_HEADER_BYTES;
            taxonomyAt = 4;
        }
        header.taxonomyId = uint16(bytes2(body[taxonomyAt:taxonomyAt + 2]));
        header.timestampNs = uint64(bytes8(body[taxonomyAt + 2:taxonomyAt + 10]));
        header.entriesAt = SIGNATURE_BYTES + headerBytes;
        uint256 entriesLength = length - header.entriesAt;
        if (entriesLength == 0 || entriesLength % header.entryBytes != 0) revert WrongLength(length);
        header.count = entriesLength / header.entryBytes;
    }

    /// Returns an entry, counted from 0. @param header must be of the same payload
    function entryAt(bytes calldata payload, Header memory header, uint256 index)
        internal
        pure
        returns (Entry memory entry)
    {
        if (index >= header.count) revert NoSuchEntry(index);
        (entry.assetId, entry.value, entry.marketStatus) = _read(payload, header, index);
    }

    /// All entries; checks that their asset IDs ascend.
    function entries(bytes calldata payload, Header memory header) internal pure returns (Entry[] memory all) {
        all = new Entry[](header.count);
        uint256 previous = 0;
        for (uint256 i = 0; i < all.length; ++i) {
            Entry memory entry = all[i];
            (entry.assetId, entry.value, entry.marketStatus) = _read(payload, header, i);
            if (i != 0 && entry.assetId <= previous) revert UnorderedAssets(entry.assetId);
            previous = entry.assetId;
        }
    }

    /// The entry of one asset; checks that all asset IDs ascend, so that no payload can hold two prices of the asset.
    function entryOf(bytes calldata payload, Header memory header, uint16 assetId)
        internal
        pure
        returns (Entry memory entry)
    {
        bool isFound = false;
        uint256 previous = 0;
        for (uint256 i = 0; i < header.count; ++i) {
            (uint16 id, int128 value, uint8 marketStatus) = _read(payload, header, i);
            if (i != 0 && id <= previous) revert UnorderedAssets(id);
            previous = id;
            if (id == assetId) {
                (entry.assetId, entry.value, entry.marketStatus) = (id, value, marketStatus);
                isFound = true;
            }
        }
        if (!isFound) revert AssetMissing(assetId);
    }

    /// Checks that all asset IDs ascend, so that no payload can hold two prices of an asset. After this check, and not before it,
    /// `valueOf` finds the only price of an asset.
    function requireOrder(bytes calldata payload, Header memory header) internal pure {
        uint256 place = header.entriesAt;
        uint256 end = place + header.count * header.entryBytes;
        if (end != payload.length) revert WrongLength(payload.length);
        uint256 entryBytes = header.entryBytes;
        uint256 previous = _wordAt(payload, place) >> 240;
        for (place += entryBytes; place < end; place += entryBytes) {
            uint256 id = _wordAt(payload, place) >> 240;
            if (id <= previous) revert UnorderedAssets(uint16(id));
            previous = id;
        }
    }

    /// The price of one asset in a payload whose order was checked: a binary search, for readers of many assets.
    function valueOf(bytes calldata payload, Header memory header, uint16 assetId) internal pure returns (int128) {
        uint256 low = 0;
        uint256 high = header.count;
        while (low < high) {
            uint256 middle = (low + high) / 2;
            uint256 entry = _wordAt(payload, header.entriesAt + middle * header.entryBytes);
            uint256 id = entry >> 240;
            if (id == assetId) return int128(uint128(entry >> 112));
            if (id < assetId) low = middle + 1;
            else high = middle;
        }
        revert AssetMissing(assetId);
    }

    /// Reads 32 bytes without a bound: callers keep the entry that begins at `place` inside the payload.
    function _wordAt(bytes calldata payload, uint256 place) private pure returns (uint256 content) {
        assembly ("memory-safe") {
            content := calldataload(add(payload.offset, place))
        }
    }

    /// `readHeader` has checked that `count` entries of `entryBytes` end with the payload; callers keep `index` below `count`.
    function _read(bytes calldata payload, Header memory header, uint256 index)
        private
        pure
        returns (uint16 assetId, int128 value, uint8 marketStatus)
    {
        uint256 start = header.entriesAt + index * header.entryBytes;
        // Slicing checks the bound once more, for a header that was not made from this payload.
        bytes32 word = bytes32(payload[start:start + PRICE_ENTRY_BYTES]);
        assetId = uint16(uint256(word) >> 240);
        value = int128(uint128(uint256(word) >> 112));
        marketStatus = header.entryBytes == PRICE_ENTRY_BYTES ? NO_SCHEDULE : uint8(payload[start + PRICE_ENTRY_BYTES]);
    }
}
