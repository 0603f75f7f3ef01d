#!/usr/bin/env python3
"""Writes files like New York's yellow taxi records: the columns and oddities of the real ones of 2009 to 2019, with random trips.

    taxi_data.py FOLDER [--year 2015] [--rows 1000000] [--months 1] [--seed 1]

The oddities, by year: 2009 has names of its own and payment types in several cases; 2014 has blanks before its names, carriage returns and
a blank line behind the header; 2016's second half has two empty fields too many in each row; 2017 has a blank line behind the header;
2018 has carriage returns; 2019 has a column more, empty in its first months. Flags and rate codes are missing here and there."""
import argparse
import pathlib

import numpy as np

NAMES_2009 = ("vendor_name,Trip_Pickup_DateTime,Trip_Dropoff_DateTime,Passenger_Count,Trip_Distance,Start_Lon,Start_Lat,Rate_Code,"
              "store_and_forward,End_Lon,End_Lat,Payment_Type,Fare_Amt,surcharge,mta_tax,Tip_Amt,Tolls_Amt,Total_Amt")
NAMES_2010 = ("vendor_id,pickup_datetime,dropoff_datetime,passenger_count,trip_distance,pickup_longitude,pickup_latitude,rate_code,"
              "store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,surcharge,mta_tax,tip_amount,tolls_amount,"
              "total_amount")
NAMES_2015 = ("VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,pickup_longitude,pickup_latitude,"
              "RateCodeID,store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,extra,mta_tax,tip_amount,"
              "tolls_amount,improvement_surcharge,total_amount")
NAMES_2017 = ("VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,RatecodeID,store_and_fwd_flag,"
              "PULocationID,DOLocationID,payment_type,fare_amount,extra,mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount")
ROWS_AT_ONCE = 100_000


def header(year, month):
    """The header's text, and what ends a line."""
    if year == 2009:
        return NAMES_2009 + "\n", "\n"
    if year == 2014:
        return NAMES_2010.replace(",", ", ") + "\r\n\r\n", "\r\n"
    if year < 2015:
        return NAMES_2010 + "\n", "\n"
    if year == 2015 or (year == 2016 and month <= 6):
        return NAMES_2015.replace("RateCodeID", "RateCodeID" if year == 2015 else "RatecodeID") + "\n", "\n"
    if year == 2016:
        return NAMES_2017 + "\n", "\n"
    if year == 2017:
        return NAMES_2017 + "\n\n", "\n"
    if year == 2018:
        return NAMES_2017 + "\r\n", "\r\n"
    return NAMES_2017 + ",congestion_surcharge\n", "\n"


def texts(times):
    return "\n".join(times.astype(str).tolist()).replace("T", " ").split("\n")


def rows(year, month, count, random, end):
    begin = np.datetime64(f"{year}-{month:02}-01", "s")
    pickup = begin + random.integers(0, 28 * 86400, count)
    dropoff = pickup + random.gamma(2, 420, count).astype("int64")
    passengers = np.minimum(random.geometric(0.6, count), 6).tolist()
    distance = random.gamma(1.3, 2.2, count)
    fare = np.round(2.5 + distance * 2.6, 0) + random.choice([0, 0.5], count)
    tip = np.where(random.random(count) < 0.6, np.round(fare * random.choice([0.2, 0.25, 0.15], count), 2), 0)
    tolls = np.where(random.random(count) < 0.05, 5.54, 0)
    extra = random.choice([0, 0.5, 1], count)
    improvement = 0.3 if year >= 2015 else 0
    total = fare + tip + tolls + extra + 0.5 + improvement
    money = [x.tolist() for x in (fare, extra, tip, tolls, total)]
    flag = random.choice(["N", "N", "N", "N", "N", "N", "Y", ""] if year in (2009, 2010) else ["N"] * 40 + ["Y"], count).tolist()
    rate = random.choice([1] * 40 + [2, 5], count).tolist()
    if year == 2009:
        vendor = random.choice(["VTS", "CMT", "DDS"], count, p=[0.5, 0.45, 0.05]).tolist()
        payment = random.choice(["CASH", "Credit", "Cash", "CREDIT", "No Charge", "Dispute"], count).tolist()
        rate = [""] * count
    elif year < 2015:
        vendor = random.choice(["VTS", "CMT"], count).tolist()
        payment = random.choice(["CSH", "CRD", "NOC", "DIS", "UNK"], count, p=[0.45, 0.5, 0.02, 0.02, 0.01]).tolist()
    else:
        vendor = random.choice([1, 2], count).tolist()
        payment = random.choice([1, 2, 3, 4], count, p=[0.66, 0.32, 0.01, 0.01]).tolist()
    coordinates = year < 2016 or (year == 2016 and month <= 6)
    if coordinates:
        digits = "%.6f" if year < 2015 else "%.15f"
        places = [(centre + random.normal(0, 0.03, count)).tolist() for centre in (-73.98, 40.75, -73.98, 40.75)]
        form = f"%s,%s,%s,%d,%.2f,{digits},{digits},%s,%s,{digits},{digits},%s,"
    else:
        places = [random.integers(1, 266, count).tolist() for _ in range(2)]
        form = "%s,%s,%s,%d,%.2f,%s,%s,%d,%d,%s,"
    form += "%.1f,%.1f,0.5,%.2f,%.2f," + ("0.3," if year >= 2015 else "") + "%.2f"
    if year == 2016 and month > 6:
        form += ",,"
    if year == 2019:
        form += ",2.5" if month > 2 else ","
    form += end
    head = (vendor, texts(pickup), texts(dropoff), passengers, distance.tolist())
    if coordinates:
        columns = head + (places[0], places[1], rate, flag, places[2], places[3], payment)
    else:
        columns = head + (rate, flag, places[0], places[1], payment)
    return "".join([form % row for row in zip(*columns, *money)])


def write(path, year, month, count, seed=1):
    """A file of `count` trips of one month."""
    random = np.random.default_rng([seed, year, month])
    text, end = header(year, month)
    with open(path, "w", newline="", encoding="ascii") as file:
        file.write(text)
        for begin in range(0, count, ROWS_AT_ONCE):
            file.write(rows(year, month, min(ROWS_AT_ONCE, count - begin), random, end))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--year", type=int, default=2015, choices=range(2009, 2020))
    parser.add_argument("--rows", type=int, default=1_000_000, help="a month")
    parser.add_argument("--months", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for month in range(1, options.months + 1):
        path = options.folder / f"yellow_tripdata_{options.year}-{month:02}.csv"
        write(path, options.year, month, options.rows, options.seed)
        print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
