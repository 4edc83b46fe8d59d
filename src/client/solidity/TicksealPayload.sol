// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Reads the payload of a `signed_ecdsa` frame: the bytes that the hex text in its field `p` stands for.
///
/// A payload is a signature of 65 bytes (r, s, v) and a body; all integers are big-endian.
///
///     simplified body: taxonomy ID (2) | timestamp in ns (8) | N times: asset ID (2), value (16)
///     versioned body:  0xFF | version 0x02 | attribute mask (2) | taxonomy ID (2) | timestamp in ns (8)
///                      | N times: asset ID (2), and the attributes whose bits the mask has, in the order of the bits
///
///     bit 0: value (16) | bit 1: market status (1) | bit 2: age in ms (4) | bit 3: publishers (1) | bit 4: spread (4)
///
/// A value is a signed 128-bit integer: the price times 10^18. Bit 0 is always set. The signature is over the Keccak-256 of the body.
library TicksealPayload {
    /// The values before the entries, and the place of the entries.
    struct Header {
        uint16 taxonomyId;
        uint64 timestampNs;
        /// The attribute mask. A simplified body has only the price.
        uint16 attributes;
        /// The number of entries; at least 1.
        uint256 count;
        /// The offset of the first entry in the payload.
        uint256 entriesAt;
        /// The size of one entry: 18 bytes, and those of its other attributes.
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
        /// The attribute mask of the payload. Values of attributes that the payload lacks are zero.
        uint16 attributes;
        /// The milliseconds from the signature of the newest input of the price to the payload's time.
        uint32 ageMs;
        /// The number of publishers whose inputs count.
        uint8 publishers;
        /// The greatest minus the least input, in millionths of the absolute price.
        uint32 spreadPpm;
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

    uint8 internal constant CLOSED = 0;
    uint8 internal constant NO_SCHEDULE = 0xFF;
    uint16 internal constant MASK_PRICE = 0x0001;
    uint16 internal constant MASK_MARKET_STATUS = 0x0002;
    uint16 internal constant MASK_AGE = 0x0004;
    uint16 internal constant MASK_PUBLISHERS = 0x0008;
    uint16 internal constant MASK_SPREAD = 0x0010;

    uint256 private constant SIGNATURE_BYTES = 65;
    uint256 private constant SIMPLIFIED_HEADER_BYTES = 10;
    uint256 private constant VERSIONED_HEADER_BYTES = 14;
    uint256 private constant PRICE_ENTRY_BYTES = 18;
    uint256 private constant MAGIC = 0xFF;
    uint8 private constant VERSION = 0x02;
    uint16 private constant MASK_ALL = 0x001F;
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
        uint256 s = _wordAt(signed, 32);
        uint8 v = uint8(signed[SIGNATURE_BYTES - 1]);
        if (v > 1 || s > HALF_ORDER) revert InvalidSignature();
        signer = ecrecover(digest, v + 27, bytes32(_wordAt(signed, 0)), bytes32(s));
        if (signer == address(0)) revert InvalidSignature();
    }

    /// Reads the header and checks that the length fits it exactly.
    function readHeader(bytes calldata payload) internal pure returns (Header memory header) {
        readInto(payload, header);
    }

    /// As `readHeader`, into memory that the caller has.
    function readInto(bytes calldata payload, Header memory header) internal pure {
        uint256 length = payload.length;
        if (length < SIGNATURE_BYTES + SIMPLIFIED_HEADER_BYTES) revert WrongLength(length);
        uint256 word = _wordAt(payload, SIGNATURE_BYTES);
        uint256 entriesAt = SIGNATURE_BYTES + SIMPLIFIED_HEADER_BYTES;
        uint256 entryBytes = PRICE_ENTRY_BYTES;
        uint256 mask = MASK_PRICE;
        // The length is at least that of the header, and all other numbers are small, so nothing overflows.
        unchecked {
            if (word >> 248 == MAGIC) {
                entriesAt = SIGNATURE_BYTES + VERSIONED_HEADER_BYTES;
                if (length < entriesAt) revert WrongLength(length);
                if (uint8(word >> 240) != VERSION) revert UnknownVersion(uint8(word >> 240));
                mask = uint16(word >> 224);
                if (mask & MASK_PRICE == 0 || mask > MASK_ALL) revert UnknownAttributes(uint16(mask));
                // Each of the bits 1 and 3 stands for a byte, and each of the bits 2 and 4 for four.
                entryBytes += ((mask >> 1) & 1) + ((mask >> 3) & 1) + 4 * (((mask >> 2) & 1) + (mask >> 4));
                word <<= 32;
            }
            uint256 entriesLength = length - entriesAt;
            if (entriesLength == 0 || entriesLength % entryBytes != 0) revert WrongLength(length);
            header.count = entriesLength / entryBytes;
        }
        header.taxonomyId = uint16(word >> 240);
        header.timestampNs = uint64(word >> 176);
        header.attributes = uint16(mask);
        header.entriesAt = entriesAt;
        header.entryBytes = entryBytes;
    }

    /// Returns an entry, counted from 0. @param header must be of the same payload
    function entryAt(bytes calldata payload, Header memory header, uint256 index)
        internal
        pure
        returns (Entry memory entry)
    {
        if (index >= header.count) revert NoSuchEntry(index);
        _requireEnd(payload, header);
        fill(entry, _wordAt(payload, header.entriesAt + index * header.entryBytes), header.attributes);
    }

    /// All entries; checks that their asset IDs ascend.
    function entries(bytes calldata payload, Header memory header) internal pure returns (Entry[] memory all) {
        requireOrder(payload, header);
        all = new Entry[](header.count);
        (uint256 place, uint256 entryBytes, uint16 attributes) =
            (header.entriesAt, header.entryBytes, header.attributes);
        unchecked {
            for (uint256 i = 0; i < all.length; ++i) {
                fill(all[i], _wordAt(payload, place), attributes);
                place += entryBytes;
            }
        }
    }

    /// The entry of one asset; checks that all asset IDs ascend, so that no payload can hold two prices of the asset.
    function entryOf(bytes calldata payload, Header memory header, uint16 assetId)
        internal
        pure
        returns (Entry memory entry)
    {
        requireOrder(payload, header);
        fill(entry, orderedWordOf(payload, header, assetId), header.attributes);
    }

    /// Checks that all asset IDs ascend, so that no payload can hold two prices of an asset. After this check, and not before it,
    /// `orderedWordOf` finds the only price of an asset.
    function requireOrder(bytes calldata payload, Header memory header) internal pure {
        _requireEnd(payload, header);
        uint256 entryBytes = header.entryBytes;
        uint256 place = header.entriesAt;
        uint256 previous = _wordAt(payload, place) >> 240;
        // The end of the payload bounds the place, so no sum overflows.
        unchecked {
            for (place += entryBytes; place < payload.length; place += entryBytes) {
                uint256 id = _wordAt(payload, place) >> 240;
                if (id <= previous) revert UnorderedAssets(uint16(id));
                previous = id;
            }
        }
    }

    /// The first 32 bytes of the entry of one asset in a payload whose order was checked: a binary search, for readers of many assets.
    function orderedWordOf(bytes calldata payload, Header memory header, uint16 assetId)
        internal
        pure
        returns (uint256 word)
    {
        (uint256 low, uint256 high) = (0, header.count);
        (uint256 entriesAt, uint256 entryBytes) = (header.entriesAt, header.entryBytes);
        // The number of entries of a payload bounds all values, so nothing overflows.
        unchecked {
            while (low < high) {
                uint256 middle = (low + high) >> 1;
                word = _wordAt(payload, entriesAt + middle * entryBytes);
                uint256 id = word >> 240;
                if (id == assetId) return word;
                if (id < assetId) low = middle + 1;
                else high = middle;
            }
        }
        revert AssetMissing(assetId);
    }

    /// Checks that the entries end with the payload: a header that was made from another payload does not pass.
    function _requireEnd(bytes calldata payload, Header memory header) private pure {
        if (header.count == 0 || header.entriesAt + header.count * header.entryBytes != payload.length) {
            revert WrongLength(payload.length);
        }
    }

    /// Fills an entry from its first 32 bytes. The longest entry has 28; bits after its end are not read.
    function fill(Entry memory entry, uint256 word, uint16 attributes) internal pure {
        entry.assetId = uint16(word >> 240);
        entry.value = int128(uint128(word >> 112));
        entry.attributes = attributes;
        entry.marketStatus = NO_SCHEDULE;
        if (attributes == MASK_PRICE) return;
        word <<= 144;
        if (attributes & MASK_MARKET_STATUS != 0) {
            entry.marketStatus = uint8(word >> 248);
            word <<= 8;
        }
        if (attributes & MASK_AGE != 0) {
            entry.ageMs = uint32(word >> 224);
            word <<= 32;
        }
        if (attributes & MASK_PUBLISHERS != 0) {
            entry.publishers = uint8(word >> 248);
            word <<= 8;
        }
        if (attributes & MASK_SPREAD != 0) entry.spreadPpm = uint32(word >> 224);
    }

    /// Reads 32 bytes without a bound: callers use only bytes that lie inside the payload.
    function _wordAt(bytes calldata payload, uint256 place) private pure returns (uint256 content) {
        assembly ("memory-safe") {
            content := calldataload(add(payload.offset, place))
        }
    }
}
