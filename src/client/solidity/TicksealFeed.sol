// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPrices} from "./TicksealPrices.sol";
import {TicksealSlot} from "./TicksealSlot.sol";

/// Answers Chainlink's AggregatorV3Interface and AggregatorInterface for one asset of a reader. It has no storage, no owner and no
/// prices of its own: deploy one for each asset, and each lender that wants other decimals.
///
/// - `updatedAt` and `startedAt` are the signed time in seconds, rounded down; never the time of the block, never after it.
/// - Rounds count the stored prices of the asset from 1, without gaps. `answeredInRound` is the round.
/// - `latestRoundData` and `getRoundData` revert with `No data present` where there is no price, and answer every price that is
///   stored, also a zero, negative or old one: their users check the answer and `updatedAt`.
/// - `latestAnswer` and its companions answer 0 where there is no price. `latestAnswer` has no time that users could check, so
///   it answers 0 too when the price is older than `maxAgeS`: for Aave and others this means the fallback oracle.
/// - With 18 decimals the answer is exact; with 8 it is rounded toward zero.
contract TicksealFeed {
    using TicksealSlot for uint256;

    /// Only 8 and 18 decimals are in use.
    error UnusualDecimals(uint8 decimals);

    uint256 public constant version = 1;

    TicksealPrices public immutable reader;
    /// The streaming ID of the asset, or its number in a quorum.
    uint16 public immutable assetId;
    uint8 public immutable decimals;
    /// The largest age of `latestAnswer`, in seconds; zero for any age.
    uint64 public immutable maxAgeS;
    /// The divisor of a price times 10^18.
    int256 private immutable _divisor;
    string public description;

    constructor(TicksealPrices reader_, uint16 assetId_, uint8 decimals_, uint64 maxAgeS_, string memory description_) {
        if (decimals_ != 8 && decimals_ != 18) revert UnusualDecimals(decimals_);
        reader = reader_;
        assetId = assetId_;
        decimals = decimals_;
        maxAgeS = maxAgeS_;
        _divisor = int256(10 ** (18 - uint256(decimals_)));
        description = description_;
    }

    /// Stores a newer price of this asset, or reverts with the reason. Anybody may call it. An update of many assets at once
    /// is cheaper through the reader.
    /// @return stored 1, the number of prices
    function update(bytes calldata payload) external returns (uint256 stored) {
        uint16[] memory assetIds = new uint16[](1);
        assetIds[0] = assetId;
        return reader.updateSome(payload, assetIds);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return _data(reader.slotOf(assetId));
    }

    /// Returns one of the last rounds that the reader keeps.
    function getRoundData(uint80 roundId_)
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return _data(reader.slotOfRound(assetId, roundId_));
    }

    function latestAnswer() external view returns (int256) {
        uint256 slot = reader.slotOf(assetId);
        if (maxAgeS != 0 && block.timestamp > slot.timeSOf() + maxAgeS) return 0;
        return _answer(slot);
    }

    function latestTimestamp() external view returns (uint256) {
        return reader.slotOf(assetId).timeSOf();
    }

    function latestRound() external view returns (uint256) {
        return reader.slotOf(assetId).roundOf();
    }

    function getAnswer(uint256 roundId) external view returns (int256) {
        return _answer(reader.slotOfRound(assetId, roundId));
    }

    function getTimestamp(uint256 roundId) external view returns (uint256) {
        return reader.slotOfRound(assetId, roundId).timeSOf();
    }

    function _data(uint256 slot) private view returns (uint80, int256, uint256, uint256, uint80) {
        uint80 round = slot.roundOf();
        require(round != 0, "No data present");
        uint256 timeS = slot.timeSOf();
        return (round, _answer(slot), timeS, timeS, round);
    }

    function _answer(uint256 slot) private view returns (int256) {
        return slot.valueOf() / _divisor;
    }
}
