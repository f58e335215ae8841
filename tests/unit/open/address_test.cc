#include "ppan/open/address.h"

#include <gmock/gmock.h>

#include "ppan/core/error.h"
#include "ppan/open/open_rows.h"

namespace ppan {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::string& text) {
  try {
    parse_address(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Address, KindsAreToldApart) {
  const std::vector<std::pair<std::string, AddressKind>> cases{
      {"people.csv", AddressKind::kText},
      {"people", AddressKind::kText},
      {"-", AddressKind::kText},
      {"selected.csv", AddressKind::kText},
      {"parts/*.csv.gz", AddressKind::kTexts},
      {"part-?.csv", AddressKind::kTexts},
      {"sales.parquet", AddressKind::kParquet},
      {"y=*/SALES.PARQUET", AddressKind::kParquet},
      {"events.jsonl", AddressKind::kJson},
      {"events.ndjson.gz", AddressKind::kJson},
      {"select * from read_parquet('p/*.parquet')", AddressKind::kQuery},
      {"WITH x AS (SELECT 1) SELECT * FROM x", AddressKind::kQuery},
      {"sqlite:shop.db?table=people", AddressKind::kDatabase},
      {"postgresql://localhost/shop?table=people", AddressKind::kDatabase},
      {"postgres://localhost/shop?query=select 1", AddressKind::kDatabase}};
  for (const auto& [text, kind] : cases) EXPECT_EQ(parse_address(text).kind, kind) << text;
}

TEST(Address, QueriesGoToTheEndAndTablesToTheNextParameter) {
  const Address query = parse_address("sqlite:a b.db?query=select * from t where x = '?' & y = 'a&table=b'");
  EXPECT_EQ(query.place, "a b.db");
  EXPECT_EQ(query.query, "select * from t where x = '?' & y = 'a&table=b'");
  EXPECT_EQ(query.table, "");
  const Address table =
      parse_address("postgresql://me@host:5433/shop?sslmode=require&table=s.people&connect_timeout=3");
  EXPECT_EQ(table.table, "s.people");
  EXPECT_EQ(table.place, "postgresql://me@host:5433/shop?sslmode=require&connect_timeout=3");
  EXPECT_EQ(table.shown, "postgresql://me@host:5433/shop table s.people");
  EXPECT_EQ(short_name(table), "s.people");
  EXPECT_EQ(short_name(query), "a query");
  EXPECT_EQ(short_name(parse_address("data/people.csv")), "people.csv");
}

TEST(Address, PasswordsAreRefusedAndNotRepeated) {
  for (const char* text :
       {"postgresql://me:hunter2@host/shop?table=t", "postgresql://host/shop?password=hunter2&table=t",
        "postgresql://host/shop?table=t&PassWord=hunter2", "postgresql://h?d?password=hunter2&table=t",
        "postgres://:hunter2@/x?query=select 1"}) {
    EXPECT_THAT(refusal(text), HasSubstr("holds a password")) << text;
    EXPECT_THAT(refusal(text), Not(HasSubstr("hunter2")));
  }
  EXPECT_THAT(refusal("postgresql://host/shop?pass%77ord=hunter2&table=t"), HasSubstr("escaped"));
}

TEST(Address, WhatIsIncompleteIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("sqlite:?table=t"), HasSubstr("names no file"));
  EXPECT_THAT(refusal("sqlite:shop.db"), HasSubstr("names no table"));
  EXPECT_THAT(refusal("sqlite:shop.db?table="), HasSubstr("names no table"));
  EXPECT_THAT(refusal("sqlite:shop.db?tabel=t"), HasSubstr("\"tabel=t\" is not known"));
  EXPECT_THAT(refusal("postgresql://host/shop"), HasSubstr("names no table"));
  EXPECT_THAT(refusal("mysql://me:hunter2@host/shop?table=t"), HasSubstr("holds a password"));
}

TEST(Address, PathsAreRelativeToTheJob) {
  EXPECT_EQ(relative_to(parse_address("p/x.parquet"), "jobs").place, "jobs/p/x.parquet");
  EXPECT_EQ(relative_to(parse_address("sqlite:x.db?table=t"), "jobs").place, "jobs/x.db");
  EXPECT_EQ(relative_to(parse_address("/x.csv"), "jobs").place, "/x.csv");
  EXPECT_EQ(relative_to(parse_address("-"), "jobs").place, "-");
  EXPECT_EQ(relative_to(parse_address("select 1 as x"), "jobs").place, "select 1 as x");
}

TEST(Address, AWordAndAColonNameADatabase) {
  const Address file = parse_address("sqlite:shop.db?table=people");
  EXPECT_EQ(file.scheme, "sqlite");
  EXPECT_FALSE(file.server);
  EXPECT_TRUE(file.is_file());
  const Address server = parse_address("postgresql://host/shop?table=people");
  EXPECT_EQ(server.scheme, "postgresql");
  EXPECT_TRUE(server.server);
  EXPECT_FALSE(server.is_file());
  EXPECT_EQ(relative_to(server, "jobs").place, "postgresql://host/shop");
  // Drives, times and paths are files.
  for (const char* text : {"c:people.csv", "12:30.csv", "./data:2024.csv", "a b:c.csv"})
    EXPECT_EQ(parse_address(text).kind, AddressKind::kText) << text;
}

TEST(OpenRows, AnUnknownDatabaseIsNamedWithThoseThatAreKnown) {
  for (const char* text : {"mysql://host/shop?table=t", "mysql:shop.db?table=t"}) {
    try {
      open_rows(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("\"mysql:\"; known: sqlite:, postgresql:, postgres:"));
    }
  }
}

}  // namespace
}  // namespace ppan
