// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";
import {TicksealPrices} from "./TicksealPrices.sol";
import {TicksealSlot} from "./TicksealSlot.sol";

/// Answers Pyth's IPyth from the stored prices. `updateData` are updates as `update` takes them; they cost no fee, and calls refuse
/// Ether, which would be lost here.
///
/// - A price ID names the asset and the decimals: its last two bytes are the asset, the byte before them the decimals (0 to 18), and all
///   others are zero. `0x…080001` is asset 1 with the exponent −8. The exponent of an ID never changes.
/// - The price is rounded toward zero. One that an int64 cannot hold reverts with `PriceOutOfRange`: take fewer decimals.
/// - `conf` is the whole spread of the inputs, rounded up: every input lies within `price ± conf`, but for the part of a millionth that
///   the service truncates. It is 0 where payloads carry no spread, which means unknown: ask for the spread in the terms when your
///   users check `conf`.
/// - `publishTime` is the signed time in seconds, rounded down.
/// - Nobody signs an average over time: `emaPrice` is zero, and functions for EMA and TWAP prices revert.
abstract contract TicksealPyth is TicksealPrices {
    /// As PythStructs.Price.
    struct PythPrice {
        int64 price;
        uint64 conf;
        int32 expo;
        uint256 publishTime;
    }

    /// As PythStructs.PriceFeed.
    struct PythFeed {
        bytes32 id;
        PythPrice price;
        PythPrice emaPrice;
    }

    // These five are errors of PythErrors, with the same selectors.
    error PriceFeedNotFound();
    error PriceFeedNotFoundWithinRange();
    error StalePrice();
    error NoFreshUpdate();
    error InvalidArgument();
    /// The price with the decimals of its ID does not fit an int64.
    error PriceOutOfRange(bytes32 id);

    uint256 private constant DECIMALS = 18;
    uint256 private constant PPM = 1e6;

    /// Returns the price ID of an asset with these decimals.
    function priceIdOf(uint16 assetId, uint8 decimals) external pure returns (bytes32 id) {
        id = bytes32((uint256(decimals) << 16) | assetId);
        _decode(id);
    }

    /// Returns the newest price, however old it is.
    function getPriceUnsafe(bytes32 id) public view returns (PythPrice memory) {
        (uint16 assetId,) = _decode(id);
        TicksealSlot.Price memory stored = latestOf(assetId);
        if (stored.round == 0) revert PriceFeedNotFound();
        return _pythPrice(id, stored);
    }

    function getPriceNoOlderThan(bytes32 id, uint256 age) public view returns (PythPrice memory price) {
        price = getPriceUnsafe(id);
        if (block.timestamp - price.publishTime > age) revert StalePrice();
    }

    function queryPriceFeed(bytes32 id) external view returns (PythFeed memory feed) {
        feed.id = id;
        feed.price = getPriceUnsafe(id);
    }

    function priceFeedExists(bytes32 id) public view returns (bool) {
        return _isId(id) && slotOf(uint16(uint256(id))) != 0;
    }

    function getEmaPriceUnsafe(bytes32) external pure returns (PythPrice memory) {
        revert PriceFeedNotFound();
    }

    function getEmaPriceNoOlderThan(bytes32, uint256) external pure returns (PythPrice memory) {
        revert PriceFeedNotFound();
    }

    function getUpdateFee(bytes[] calldata) external pure returns (uint256) {
        return 0;
    }

    /// Stores what is newer and within the terms. Unlike `update`, it does not revert when there is nothing to store.
    function updatePriceFeeds(bytes[] calldata updateData) public {
        for (uint256 i = 0; i < updateData.length; ++i) {
            (uint64 timestampNs, TicksealPayload.Entry[] memory entries) = _readAll(updateData[i]);
            _storeAll(timestampNs, entries);
        }
    }

    /// As `updatePriceFeeds` when one of the prices is older than its time, else it reverts.
    function updatePriceFeedsIfNecessary(
        bytes[] calldata updateData,
        bytes32[] calldata priceIds,
        uint64[] calldata publishTimes
    ) external {
        if (priceIds.length != publishTimes.length) revert InvalidArgument();
        for (uint256 i = 0; i < priceIds.length; ++i) {
            if (!priceFeedExists(priceIds[i]) || getPriceUnsafe(priceIds[i]).publishTime < publishTimes[i]) {
                updatePriceFeeds(updateData);
                return;
            }
        }
        revert NoFreshUpdate();
    }

    /// Verifies updates and returns the prices of the IDs, without storing them. A price outside of the times or the terms is as if it
    /// were missing. Of several, the first counts.
    function parsePriceFeedUpdates(
        bytes[] calldata updateData,
        bytes32[] calldata priceIds,
        uint64 minPublishTime,
        uint64 maxPublishTime
    ) external view returns (PythFeed[] memory feeds) {
        feeds = new PythFeed[](priceIds.length);
        uint256 found = 0;
        for (uint256 i = 0; i < updateData.length; ++i) {
            (uint64 timestampNs, TicksealPayload.Entry[] memory entries) = _readAll(updateData[i]);
            uint256 timeS = timestampNs / NANOSECONDS;
            if (timeS < minPublishTime || timeS > maxPublishTime) continue;
            for (uint256 k = 0; k < priceIds.length; ++k) {
                if (feeds[k].price.publishTime == 0 && _find(feeds[k], priceIds[k], timestampNs, entries)) ++found;
            }
        }
        if (found != priceIds.length) revert PriceFeedNotFoundWithinRange();
    }

    /// Fills a feed with the price of an ID, where the entries have it.
    function _find(PythFeed memory feed, bytes32 id, uint64 timestampNs, TicksealPayload.Entry[] memory entries)
        private
        view
        returns (bool)
    {
        (uint16 assetId,) = _decode(id);
        for (uint256 i = 0; i < entries.length; ++i) {
            if (entries[i].assetId != assetId) continue;
            if (_refusalOf(entries[i]) != Refusal.None) return false;
            feed.id = id;
            feed.price = _pythPrice(id, TicksealSlot.unpack(TicksealSlot.pack(timestampNs, entries[i], 0)));
            return true;
        }
        return false;
    }

    function _pythPrice(bytes32 id, TicksealSlot.Price memory stored) private pure returns (PythPrice memory price) {
        (, uint8 decimals) = _decode(id);
        int256 divisor = int256(10 ** (DECIMALS - decimals));
        int256 value = stored.value / divisor;
        if (value != int64(value)) revert PriceOutOfRange(id);
        uint256 absolute = uint256(stored.value < 0 ? -int256(stored.value) : int256(stored.value));
        uint256 scale = uint256(divisor) * PPM;
        // A spread is at most 65.5 % of the price, so this fits.
        price.conf = uint64((absolute * stored.spreadPpm + scale - 1) / scale);
        price.price = int64(value);
        price.expo = -int32(uint32(decimals));
        price.publishTime = stored.timestampNs / NANOSECONDS;
    }

    function _decode(bytes32 id) private pure returns (uint16 assetId, uint8 decimals) {
        if (!_isId(id)) revert PriceFeedNotFound();
        return (uint16(uint256(id)), uint8(uint256(id) >> 16));
    }

    function _isId(bytes32 id) private pure returns (bool) {
        return uint256(id) >> 16 <= DECIMALS;
    }
}
