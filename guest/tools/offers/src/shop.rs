//! The shop: collections, products, orders.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::data::damaged;
use crate::describe::{DELETED, Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::kinds::{COLLECTIONS, ORDERS, PRODUCTS};
use crate::refused;
use crate::say::{deletion, ids, names};
use crate::text::{count, quote};
use crate::work::{Change, Record, Work};
use std::collections::BTreeSet;

const ORDER: &[(&str, Shape)] = &[(
    "order",
    Shape::Object(&[
        ("id", Shape::Whole),
        ("payment_status", Shape::Text),
        ("fulfillment_status", Shape::Text),
        ("refunded", Shape::Money),
        ("updated_at", Shape::Text),
    ]),
)];

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "delete_collection",
        title: "Delete a collection",
        about: "Deletes a collection of products for good. The products in it stay.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, "The collection's id.")],
        gives: DELETED,
        run: delete_collection,
    },
    Tool {
        name: "delete_product",
        title: "Delete a product",
        about: "Deletes a product for good and takes it out of its collections. Refused while an order that has not been \
                shipped or cancelled has it.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, "The product's id.")],
        gives: DELETED,
        run: delete_product,
    },
    Tool {
        name: "refund_order",
        title: "Refund an order",
        about: "Gives a customer money back: all that is left of what was paid, or a part of it. It cannot be taken back.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("order_id", What::Id, "The order's id."),
            takes("amount", What::Cash, "How much: 20 or \"20.00\". Without it: all that is left."),
            takes("reason", What::Line(200), "Why, for the record."),
        ],
        gives: ORDER,
        run: refund_order,
    },
    Tool {
        name: "cancel_order",
        title: "Cancel an order",
        about: "Cancels an order that has not been shipped and puts its items back into stock. What was paid is given back by \
                refund_order, not by this.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("order_id", What::Id, "The order's id."),
            takes("reason", What::Line(200), "Why, for the record."),
        ],
        gives: ORDER,
        run: cancel_order,
    },
];

fn delete_collection(work: &mut Work) -> Result<Change, ToolError> {
    let collection = work.find(&COLLECTIONS, "id")?;
    let there: BTreeSet<u64> = collection.ids("product_ids").into_iter().collect();
    let there = there.into_iter().filter(|id| work.data.find(&PRODUCTS, *id).is_some());
    let (products, published) = (there.count() as u64, collection.flag("published"));
    work.remove(&collection);
    let facts =
        [format!("{} in it, which {}", count(products, "product"), if products == 1 { "stays" } else { "stay" })];
    let warnings = match published {
        true => vec!["It is published: its page in the shop goes with it.".to_owned()],
        false => Vec::new(),
    };
    let details = [
        ("collection_id", Json::whole(collection.id)),
        ("collection_name", Json::text(collection.text("name"))),
        ("published", Json::Bool(published)),
        ("products_that_stay", Json::whole(products)),
    ];
    Ok(deletion(work, &collection, &facts, details, warnings))
}

/// Whether an order has a product and waits to be shipped.
fn waits_for(order: &Record, product: u64) -> bool {
    order.is("fulfillment_status", "unfulfilled")
        && order.rows("items").iter().any(|item| item.get("product_id").and_then(Json::as_whole) == Some(product))
}

fn delete_product(work: &mut Work) -> Result<Change, ToolError> {
    let product = work.find(&PRODUCTS, "id")?;
    if let Some(order) = work.those(&ORDERS, |order| waits_for(order, product.id)).first() {
        let named = product.named();
        return Err(refused(format!(
            "{named} is in order #{}, which is not shipped yet: ship or cancel that first",
            order.id
        )));
    }
    let collections = work.those(&COLLECTIONS, |collection| collection.ids("product_ids").contains(&product.id));
    for collection in &collections {
        let left = collection.ids("product_ids").into_iter().filter(|id| *id != product.id);
        let left = Json::List(left.map(Json::whole).collect());
        work.set(collection, [("product_ids", left)]);
    }
    work.remove(&product);
    let (price, stock) = (product.money("price")?, product.whole("stock"));
    let mut warnings = Vec::new();
    if product.is("status", "active") {
        warnings.push("It is on sale now.".to_owned());
    }
    if !collections.is_empty() {
        warnings.push(format!(
            "It goes out of {}: {}.",
            count(collections.len() as u64, "collection"),
            names(&collections)
        ));
    }
    let facts = [format!("price {}", work.show(price)), format!("{stock} in stock")];
    let details = [
        ("product_id", Json::whole(product.id)),
        ("product_name", Json::text(product.text("name"))),
        ("status", Json::text(product.text("status"))),
        ("price", price.json()),
        ("stock", Json::whole(stock)),
        ("collections", ids(&collections)),
    ];
    Ok(deletion(work, &product, &facts, details, warnings))
}

fn refund_order(work: &mut Work) -> Result<Change, ToolError> {
    let order = work.find(&ORDERS, "order_id")?;
    let (total, before) = (order.money("total")?, order.money("refunded")?);
    if before > total {
        return Err(damaged(&format!("order #{}: more was refunded than it cost", order.id)));
    }
    let left = total.minus(before);
    match order.text("payment_status") {
        "pending" | "voided" => {
            return Err(refused(format!("nothing was paid for order #{}: cancel_order ends it", order.id)));
        }
        _ if !left.is_positive() => {
            return Err(refused(format!("order #{} is refunded already, all {} of it", order.id, work.show(total))));
        }
        _ => {}
    }
    let amount = work.amount("amount").unwrap_or(left);
    if amount > left {
        let (left, amount) = (work.show(left), work.show(amount));
        return Err(refused(format!("only {left} of order #{} is left to refund, not {amount}", order.id)));
    }
    let (refunded, rest) = (before.plus(amount), left.minus(amount));
    let status = if rest.is_positive() { "partially_refunded" } else { "refunded" };
    let mut warnings = Vec::new();
    if before.is_positive() {
        warnings.push(format!("{} of it was refunded before.", work.show(before)));
    }
    if !rest.is_positive() && (order.is("fulfillment_status", "shipped") || order.is("fulfillment_status", "delivered"))
    {
        warnings.push(format!(
            "The order is {}: a refund does not bring the goods back.",
            order.text("fulfillment_status")
        ));
    }
    let reason = reason(work);
    work.set(&order, [("refunded", refunded.json()), ("payment_status", Json::text(status))]);
    work.append(
        &order,
        "refunds",
        Json::object([("amount", amount.json()), ("reason", reason.clone()), ("at", Json::text(work.now.clone()))]),
    );
    let whose = format!("order #{} of {}", order.id, quote(order.text("customer")));
    let (shown, of) = (work.show(amount), work.show(total));
    let summary = match rest.is_positive() {
        true => format!("Will refund {shown} of {whose}; {} of {of} stays paid.", work.show(rest)),
        false if before.is_positive() => format!("Will refund {shown} of {whose}, all that is left of {of}."),
        false => format!("Will refund {whose} in full: {shown}."),
    };
    Ok(Change {
        summary,
        details: Json::object([
            ("order_id", Json::whole(order.id)),
            ("customer", Json::text(order.text("customer"))),
            ("total", total.json()),
            ("refunded_before", before.json()),
            ("amount", amount.json()),
            ("left_after", rest.json()),
            ("new_payment_status", Json::text(status)),
            ("fulfillment_status", Json::text(order.text("fulfillment_status"))),
            ("reason", reason),
        ]),
        warnings,
        message: format!("Refunded {shown} of order #{}", order.id),
        outcome: now(work, &order),
    })
}

fn cancel_order(work: &mut Work) -> Result<Change, ToolError> {
    let order = work.find(&ORDERS, "order_id")?;
    match order.text("fulfillment_status") {
        "cancelled" => return Err(refused(format!("order #{} is cancelled already", order.id))),
        "unfulfilled" => {}
        done => {
            return Err(refused(format!(
                "order #{} is {done} and can no longer be cancelled: refund_order gives money back",
                order.id
            )));
        }
    }
    let (total, refunded) = (order.money("total")?, order.money("refunded")?);
    let paid = ["paid", "partially_refunded"].iter().any(|status| order.is("payment_status", status));
    // Pieces, not lines of the order.
    let (mut restocked, mut gone, mut items) = (Vec::new(), 0, 0);
    for item in order.rows("items") {
        let whole = |name| item.get(name).and_then(Json::as_whole).unwrap_or_default();
        let (id, quantity) = (whole("product_id"), whole("quantity"));
        match work.look(&PRODUCTS, id) {
            Some(product) => {
                let stock = product.whole("stock").saturating_add(quantity);
                work.set(&product, [("stock", Json::whole(stock))]);
                items = quantity.saturating_add(items);
                restocked.push(Json::object([("product_id", Json::whole(id)), ("quantity", Json::whole(quantity))]));
            }
            None => gone = quantity.saturating_add(gone),
        }
    }
    let reason = reason(work);
    let payment = if order.is("payment_status", "pending") { "voided" } else { order.text("payment_status") };
    work.set(
        &order,
        [
            ("fulfillment_status", Json::text("cancelled")),
            ("payment_status", Json::text(payment)),
            ("cancel_reason", reason.clone()),
        ],
    );
    let mut warnings = Vec::new();
    if paid {
        let left = work.show(total.minus(refunded));
        warnings.push(format!("{left} stays paid until refund_order gives it back."));
    }
    if gone > 0 {
        let rest = match gone {
            1 => "is of a product that no longer exists and goes into no stock",
            _ => "are of products that no longer exist and go into no stock",
        };
        warnings.push(format!("{} {rest}.", count(gone, "item")));
    }
    Ok(Change {
        summary: format!(
            "Will cancel order #{} of {} over {} and put {} back into stock.",
            order.id,
            quote(order.text("customer")),
            work.show(total),
            count(items, "item")
        ),
        details: Json::object([
            ("order_id", Json::whole(order.id)),
            ("customer", Json::text(order.text("customer"))),
            ("total", total.json()),
            ("payment_status", Json::text(payment)),
            ("restocked", Json::List(restocked)),
            ("reason", reason),
        ]),
        warnings,
        message: format!("Cancelled order #{}", order.id),
        outcome: now(work, &order),
    })
}

fn reason(work: &Work) -> Json {
    work.given("reason").map_or(Json::Null, Json::text)
}

/// The order as it is in the data now.
fn now(work: &Work, order: &Record) -> Json {
    let now = work.those(&ORDERS, |record| record.id == order.id);
    let members = ["id", "payment_status", "fulfillment_status", "refunded", "updated_at"];
    Json::object([("order", now.first().map_or(Json::Null, |record| record.brief(&members)))])
}
